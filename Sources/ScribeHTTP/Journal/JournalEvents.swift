import Basics
import HTTPTypes
package import Hummingbird
package import Journal
import NIOCore
import ScribeRuntime
import ServiceLifecycle

/// Streams of server-sent events about a journal.
package struct JournalEvents: Sendable {
    /// Most open streams of a server.
    package static let limit = 32

    private let streams = EventStreams(limit: JournalEvents.limit)

    package init() {}

    /// Answers with the exchanges that match, each as it begins and as it ends, and with the frames of sockets.
    /// - Parameter change: Change of the journal after which the stream begins; nil for the present one.
    /// - Throws: ``JournalProblem/tooManyStreams(limit:)``.
    package func response(
        of journal: Journal, _ index: JournalIndex, _ match: JournalMatch, after change: Int?, in world: World,
        _ context: ScribeContext
    ) throws(JournalProblem) -> Response {
        let events = EventStream(
            journal: journal, index: index, match: match, change: change ?? journal.changes, world: world,
            disconnect: context.clientDisconnect())
        let response = streams.response { writer in try await events.write(to: &writer) }
        guard let response else { throw .tooManyStreams(limit: Self.limit) }
        return response
    }
}

/// Events of one stream, as text.
private struct EventStream: Sendable {
    /// Longest silence of a stream: a comment shows that the server is there, and whether the client is.
    private static let silence: Duration = .seconds(15)

    let journal: Journal
    let index: JournalIndex
    let match: JournalMatch
    let change: Int
    let world: World
    let disconnect: OneShotSignal

    @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
        var change = change
        // Frames that were sent of each open socket.
        var frames: [Int: Int] = [:]
        // Numbers of exchanges that this stream has told to their end. A later change of them is no news.
        var ended: Set<Int> = []
        // At once, so that the client gets the head.
        try await writer.write(ByteBuffer(string: ": the journal\n\n"))
        while !disconnect.hasFired, !world.end.hasFired, !Task.isShuttingDownGracefully {
            let news = journal.news(after: change)
            change = news.change
            for entry in news.entries where !ended.contains(entry.number) {
                let before = frames[entry.number]
                let events = await EventLoopOffload.run(bytes: .max) { Events(of: entry, before: before, index, match) }
                frames[entry.number] = events.openFrames
                if events.hasEnded { ended.insert(entry.number) }
                if events.text.readableBytes > 0 { try await writer.write(events.text) }
            }
            if ended.count > 2 * journal.settings.entries { ended = ended.filter { journal.contains($0) } }
            if news.entries.isEmpty, await !hasNews(after: change) {
                try await writer.write(ByteBuffer(string: ": still here\n\n"))
            }
        }
    }

    /// Waits for a change after the change numbered `change`.
    /// - Returns: false if there was none for a while.
    private func hasNews(after change: Int) async -> Bool {
        let journal = journal
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
            await world.end.watched(by: { work.cancel() }) {
                await disconnect.watched(by: { work.cancel() }) { await work.value }
            }
        } onCancel: {
            work.cancel()
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
        if before == nil, isOpen { add("exchange", shown.summary) }
        for frame in all.dropFirst(before ?? 0) {
            add("frame", (["id": .integer(entry.number)] as JSON).adding(shown.frame(frame)))
        }
        if !isOpen { add("exchange", shown.summary) }
    }

    private mutating func add(_ event: String, _ json: JSON) {
        text.writeString("event: \(event)\ndata: ")
        text.writeBytes(json.bytes)
        text.writeString("\n\n")
    }
}
