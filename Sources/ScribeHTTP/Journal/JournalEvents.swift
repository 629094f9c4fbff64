import Basics
import HTTPTypes
package import Hummingbird
package import Journal
import NIOCore
import ScribeRuntime
import ServiceLifecycle

/// Streams of server-sent events about a journal.
package final class JournalEvents: Sendable {
    /// Most open streams of a server.
    package static let limit = 32

    private let count = LockedValue(0)

    package init() {}

    /// Answers with the exchanges that match, each as it begins and as it ends, and with the frames of sockets.
    /// - Parameter change: Change of the journal after which the stream begins; nil for the present one.
    /// - Throws: ``JournalProblem/tooManyStreams(limit:)``.
    package func response(
        of journal: Journal, _ index: JournalIndex, _ match: JournalMatch, after change: Int?, in world: World,
        _ context: ScribeContext
    ) throws(JournalProblem) -> Response {
        let events = EventSequence(
            journal: journal, index: index, match: match, change: change ?? journal.changes, world: world,
            disconnect: context.clientDisconnect(), place: try enter())
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: ResponseBody(asyncSequence: events))
    }

    private func enter() throws(JournalProblem) -> StreamPlace {
        let isFree = count.withLock { count in
            guard count < Self.limit else { return false }
            count += 1
            return true
        }
        guard isFree else { throw .tooManyStreams(limit: Self.limit) }
        return StreamPlace(self)
    }

    /// Place of a stream, given back when the stream ends or is never sent.
    fileprivate final class StreamPlace: Sendable {
        private let events: JournalEvents

        init(_ events: JournalEvents) { self.events = events }

        deinit { events.count.withLock { $0 -= 1 } }
    }
}

/// Events of one stream, as text.
private struct EventSequence: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let journal: Journal
    let index: JournalIndex
    let match: JournalMatch
    let change: Int
    let world: World
    let disconnect: OneShotSignal
    let place: JournalEvents.StreamPlace

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self, change: change) }

    struct Iterator: AsyncIteratorProtocol {
        /// Longest silence of a stream: a comment shows that the server is there, and whether the client is.
        private static let silence: Duration = .seconds(15)

        private let sequence: EventSequence
        private var change: Int
        private var entries: ArraySlice<Journal.Numbered> = []
        /// Frames that were sent of each open socket.
        private var frames: [Int: Int] = [:]
        /// Numbers of exchanges that this stream has told to their end. A later change of them is no news.
        private var ended: Set<Int> = []
        private var hasBegun = false

        init(sequence: EventSequence, change: Int) {
            self.sequence = sequence
            self.change = change
        }

        mutating func next() async throws -> ByteBuffer? {
            guard hasBegun else {
                // At once, so that the client gets the head.
                hasBegun = true
                return ByteBuffer(string: ": the journal\n\n")
            }
            while true {
                while let entry = entries.popFirst() {
                    guard !ended.contains(entry.number) else { continue }
                    let (before, sequence) = (frames[entry.number], sequence)
                    let events = await EventLoopOffload.run(bytes: .max) {
                        Events(of: entry, before: before, sequence.index, sequence.match)
                    }
                    frames[entry.number] = events.openFrames
                    if events.hasEnded { remember(entry.number) }
                    if events.text.readableBytes > 0 { return events.text }
                }
                guard !sequence.disconnect.hasFired, !sequence.world.end.hasFired, !Task.isShuttingDownGracefully else {
                    return nil
                }
                let news = sequence.journal.news(after: change)
                (entries, change) = (news.entries[...], news.change)
                if entries.isEmpty, await !hasNews() { return ByteBuffer(string: ": still here\n\n") }
            }
        }

        private mutating func remember(_ number: Int) {
            ended.insert(number)
            let journal = sequence.journal
            guard ended.count > 2 * journal.settings.entries else { return }
            ended = ended.filter { journal[$0] != nil }
        }

        /// Waits for a change.
        /// - Returns: false if there was none for a while.
        private func hasNews() async -> Bool {
            let (journal, change) = (sequence.journal, change)
            let work = Task {
                await withTaskGroup(of: Bool.self) { group in
                    group.addTask {
                        await cancelWhenGracefulShutdown { await journal.wait(after: change) }
                        return true
                    }
                    group.addTask { (try? await journal.clock.sleep(for: Self.silence, as: .journal)) == nil }
                    defer { group.cancelAll() }
                    return await group.next() ?? true
                }
            }
            return await withTaskCancellationHandler {
                await sequence.world.end.watched(by: { work.cancel() }) {
                    await sequence.disconnect.watched(by: { work.cancel() }) { await work.value }
                }
            } onCancel: {
                work.cancel()
            }
        }
    }
}

/// News of an entry, as events.
private struct Events {
    var text = ByteBuffer()
    /// Frames of a socket that is open; nil for any other entry.
    var openFrames: Int?
    var hasEnded = false

    /// - Parameter before: Frames that were sent; nil for an entry that is new.
    init(of entry: Journal.Numbered, before: Int?, _ index: JournalIndex, _ match: JournalMatch) {
        let shown = index.shown(entry)
        let isOpen = shown.exchange.end == nil
        hasEnded = !isOpen
        guard match.holds(for: shown) else { return }
        let all = shown.exchange.frames
        if isOpen { openFrames = all.count }
        if before == nil, isOpen { add("exchange", .object(shown.summary)) }
        for frame in all.dropFirst(before ?? 0) {
            add("frame", .object([("id", .integer(entry.number))] + shown.frame(frame)))
        }
        if !isOpen { add("exchange", .object(shown.summary)) }
    }

    private mutating func add(_ event: String, _ json: JSON) {
        text.writeString("event: \(event)\ndata: ")
        text.writeBytes(json.bytes)
        text.writeString("\n\n")
    }
}
