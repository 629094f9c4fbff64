import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Journal
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ServiceLifecycle

/// Stream of server-sent events that tells a page to read itself anew, at most four times a second.
///
/// It compares counters, so that writes cost no more while a console is open.
struct ConsoleEvents: Sendable {
    /// Most streams at once. Browsers share one between their tabs, and close it while they are hidden.
    private static let most = 64
    private let count = LockedValue(0)

    /// - Parameter isOpen: whether the session of the stream has not ended.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)``.
    func response(
        for world: World, _ context: ScribeContext, while isOpen: @escaping @Sendable () -> Bool
    ) throws -> Response {
        let isFree = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        guard isFree else { throw HTTPProblem.busy(retryAfter: 5) }
        let place = Place(count)
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .accelBuffering: "no"],
            body: ResponseBody(
                asyncSequence: Events(
                    world: world, directory: context.directory, disconnect: context.clientDisconnect(), isOpen: isOpen,
                    place: place)))
    }

    /// Place of a stream, given back when the stream ends or is never sent.
    fileprivate final class Place: Sendable {
        private let count: LockedValue<Int>

        init(_ count: LockedValue<Int>) { self.count = count }

        deinit { count.withLock { $0 -= 1 } }
    }
}

private struct Events: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let world: World
    let directory: WorldDirectory?
    let disconnect: OneShotSignal
    let isOpen: @Sendable () -> Bool
    let place: ConsoleEvents.Place
    /// State before the answer begins: a page reads itself as soon as it has the head.
    let begin: [UInt64]

    init(
        world: World, directory: WorldDirectory?, disconnect: OneShotSignal, isOpen: @escaping @Sendable () -> Bool,
        place: ConsoleEvents.Place
    ) {
        (self.world, self.directory, self.disconnect) = (world, directory, disconnect)
        (self.isOpen, self.place) = (isOpen, place)
        begin = Self.state(of: world, directory)
    }

    func makeAsyncIterator() -> Iterator { Iterator(events: self, last: begin) }

    /// Changes so far, of results, of the journal, of open sockets, of namespaces, of the clock and of fault rules.
    ///
    /// The counters grow with each change. A value that is changed and changed back within one pause would look the
    /// same, and the page may have been read in between.
    static func state(of world: World, _ directory: WorldDirectory?) -> [UInt64] {
        let faults = world.runtime.faults
        return [
            world.changes.signals.versions.changeCount,
            UInt64(world.runtime.journal?.changes ?? 0), UInt64(directory?.changes ?? 0),
            UInt64(world.runtime.clock.changes), UInt64(faults.version), UInt64(faults.entries.total(\.applied)),
            UInt64(world.openSockets.changes),
        ]
    }

    struct Iterator: AsyncIteratorProtocol {
        private static let pause: Duration = .milliseconds(250)
        /// Looks between two signs of life: 15 s.
        private static let longestSilence = 60

        let events: Events
        var last: [UInt64]
        var hasBegun = false

        mutating func next() async throws -> ByteBuffer? {
            guard hasBegun else {
                hasBegun = true
                return ByteBuffer(string: ": the console\n\n")
            }
            for _ in 0..<Self.longestSilence {
                let isOver =
                    events.disconnect.hasFired || events.world.end.hasFired || !events.isOpen()
                    || Task.isShuttingDownGracefully
                guard !isOver else { return nil }
                await cancelWhenGracefulShutdown { [clock = events.world.runtime.clock.wall] in
                    try? await clock.sleep(for: Self.pause, as: .console)
                }
                let now = Events.state(of: events.world, events.directory)
                guard now == last else {
                    last = now
                    return ByteBuffer(string: "event: change\ndata: \(now[0])-\(now[1])\n\n")
                }
            }
            return ByteBuffer(string: ": still here\n\n")
        }
    }
}
