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
    private static let pause: Duration = .milliseconds(250)
    /// Looks between two signs of life: 15 s.
    private static let longestSilence = 60

    /// Browsers share a stream between their tabs, and close it while they are hidden.
    private let streams = EventStreams(limit: 64)

    /// - Parameter isOpen: whether the session of the stream has not ended.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)``.
    func response(
        for world: World, _ context: ScribeContext, while isOpen: @escaping @Sendable () -> Bool
    ) throws -> Response {
        let (disconnect, directory) = (context.clientDisconnect(), context.directory)
        // Before the answer begins: a page reads itself as soon as it has the head.
        let begin = Self.state(of: world, directory)
        let response = streams.response { writer in
            try await writer.write(ByteBuffer(string: ": the console\n\n"))
            var (last, looks) = (begin, 0)
            while !disconnect.hasFired, !world.end.hasFired, isOpen(), !Task.isShuttingDownGracefully {
                await cancelWhenGracefulShutdown { [clock = world.runtime.clock.wall] in
                    try? await clock.sleep(for: Self.pause, as: .console)
                }
                let now = Self.state(of: world, directory)
                looks += 1
                if now != last {
                    (last, looks) = (now, 0)
                    try await writer.write(ByteBuffer(string: "event: change\ndata: \(now[0])-\(now[1])\n\n"))
                } else if looks == Self.longestSilence {
                    looks = 0
                    try await writer.write(ByteBuffer(string: ": still here\n\n"))
                }
            }
        }
        guard let response else { throw HTTPProblem.busy(retryAfter: 5) }
        return response
    }

    /// Changes so far, of results, of the journal, of open sockets, of namespaces, of the clock and of fault rules.
    ///
    /// The counters grow with each change. A value that is changed and changed back within one pause would look the
    /// same, and the page may have been read in between.
    private static func state(of world: World, _ directory: WorldDirectory?) -> [UInt64] {
        let faults = world.runtime.faults
        return [
            world.changes.signals.versions.changeCount,
            UInt64(world.runtime.journal?.changes ?? 0), UInt64(directory?.changes ?? 0),
            UInt64(world.runtime.clock.changes), UInt64(faults.version), UInt64(faults.entries.total(\.applied)),
            UInt64(world.openSockets.changes),
        ]
    }
}
