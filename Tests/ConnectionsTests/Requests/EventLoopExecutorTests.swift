import Basics
import Foundation
import NIOCore
import NIOPosix
import ServerTestSupport
import Testing

@testable import Connections

struct EventLoopExecutorTests {
    /// Tells that something was read.
    private final class Reading: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let hasRead: LockedValue<Bool>

        init(_ hasRead: LockedValue<Bool>) { self.hasRead = hasRead }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { hasRead.withLock { $0 = true } }
    }

    @Test("a task on an event loop that yields lets the loop read its sockets")
    func yielding() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let hasRead = LockedValue(false)
        let pipe = Pipe()
        let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
        let channel = try await NIOPipeBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Reading(hasRead))
            }
        }.takingOwnershipOfDescriptor(input: descriptor).get()
        let turns = await withTaskExecutorPreference(EventLoopExecutor(group.next())) {
            await Self.turns(until: hasRead) { try? pipe.fileHandleForWriting.write(contentsOf: Data([1])) }
        }
        #expect(turns < Self.maxTurns)
        try await channel.close()
        try await group.shutdownGracefully()
    }

    private static let maxTurns = 100_000

    /// - Parameter begin: sends what is to be read.
    @concurrent private static func turns(until hasRead: LockedValue<Bool>, _ begin: @Sendable () -> Void) async -> Int
    {
        begin()
        var turns = 0
        while turns < maxTurns, !hasRead.withLock({ $0 }) {
            turns += 1
            await EventLoopOffload.yield()
        }
        return turns
    }
}
