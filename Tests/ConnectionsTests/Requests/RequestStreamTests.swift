import Basics
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServerTestSupport
import Testing

@testable import Connections

struct RequestStreamTests {
    /// Counts nothing.
    private struct NoCount: ConnectionCounter {
        func connectionOpened() {}
        func connectionClosed() {}
    }

    /// Answers the requests of one connection, while a client on the other side writes and reads bytes.
    private func serve(
        _ respond: @escaping Responder,
        _ client: @escaping @Sendable (NIOAsyncChannel<ByteBuffer, ByteBuffer>) async throws -> Void
    ) async throws {
        let channels = PlainChannel(
            limits: ConnectionLimits(), connections: NoCount(), logger: Logger(label: "test"), respond: respond)
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(host: "127.0.0.1", port: 0) { channels.setup(channel: $0, logger: Logger(label: "test")) }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            try await listener.executeThenClose { connections in
                let port = try #require(listener.channel.localAddress?.port)
                tasks.addTask {
                    let channel = try await ClientBootstrap(group: group)
                        .channelOption(.allowRemoteHalfClosure, value: true)
                        .connect(host: "127.0.0.1", port: port) { channel in
                            channel.eventLoop.makeCompletedFuture {
                                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                                    wrappingChannelSynchronously: channel,
                                    configuration: .init(isOutboundHalfClosureEnabled: true))
                            }
                        }
                    try await client(channel)
                }
                for try await connection in connections {
                    await withTaskExecutorPreference(EventLoopExecutor(connection.channel.eventLoop)) {
                        await channels.handle(value: connection, logger: Logger(label: "test"))
                    }
                    break
                }
            }
            try await tasks.waitForAll()
        }
    }

    /// Sends bytes in pieces, half-closes, and returns all that comes back.
    private func answers(
        to pieces: [String], endsInput: Bool = true, _ respond: @escaping Responder
    ) async throws -> String {
        let received = LockedValue("")
        try await serve(respond) { channel in
            try await channel.executeThenClose { inbound, outbound in
                for piece in pieces {
                    try await outbound.write(ByteBuffer(string: piece))
                    // The next piece comes in a read of its own, mostly.
                    try await Task.sleep(for: .milliseconds(5))
                }
                if endsInput { outbound.finish() }
                for try await bytes in inbound { received.withLock { $0 += String(buffer: bytes) } }
            }
        }
        return received.withLock { $0 }
    }

    private static let echo: Responder = { request, _ in
        var text = "\(request.uri) "
        do {
            for try await bytes in request.body { text += String(buffer: bytes) }
        } catch {
            text += "<cut>"
        }
        return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: text + "\n")))
    }

    private static func post(_ path: String, _ body: String) -> String {
        "POST \(path) HTTP/1.1\r\nhost: a\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("requests are answered in turn, in one read, in many, and with bodies that nobody reads")
    func turns() async throws {
        let ignoring: Responder = { request, channel in
            request.uri.path == "/ignored" ? Response(status: .ok) : try await Self.echo(request, channel)
        }
        let requests = [
            Self.post("/a", "one"), Self.post("/ignored", String(repeating: "x", count: 100_000)), Self.post("/b", ""),
            "GET /c HTTP/1.1\r\nhost: a\r\n\r\n",
        ]
        for pieces in [requests, [requests.joined()], [String(requests[0].dropLast(2)), "ne", requests[3]]] {
            let answers = try await answers(to: pieces, ignoring)
            let lines = answers.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("/") }
            #expect(lines == (pieces.count == 3 ? ["/a one", "/c "] : ["/a one", "/b ", "/c "]))
        }
    }

    @Test("a body that the client breaks off is an error and no end of the body")
    func brokenBody() async throws {
        let answers = try await answers(to: ["POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf"], Self.echo)
        #expect(answers.contains("/a half<cut>"))
    }

    @Test("bytes that are no request get a 400 behind the answers before them, and the connection ends")
    func garbage() async throws {
        let answers = try await answers(
            to: ["GET /a HTTP/1.1\r\nhost: a\r\n\r\n", "\u{1}\u{2}\r\n\r\n"], endsInput: false, Self.echo)
        #expect(answers.hasPrefix("HTTP/1.1 200 OK"))
        #expect(answers.contains("HTTP/1.1 400 Bad Request"), "\(answers)")
    }

    @Test("an answer that fails half-way ends the connection behind what was written")
    func cut() async throws {
        struct Cut: Error {}
        let answers = try await answers(
            to: ["GET /a HTTP/1.1\r\nhost: a\r\n\r\n"], endsInput: false
        ) { _, _ in
            Response(
                status: .ok,
                body: ResponseBody(contentLength: 9) { writer in
                    try await writer.write(ByteBuffer(string: "half"))
                    throw Cut()
                })
        }
        #expect(
            answers.hasSuffix("content-length: 9\r\n\r\nhalf") || answers.hasSuffix("Content-Length: 9\r\n\r\nhalf"))
    }

    @Test("an answer is sent as it is written, also from another thread")
    func pieces() async throws {
        let hasRead = OneShotSignal()
        let respond: Responder = { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    try await withTaskExecutorPreference(globalConcurrentExecutor) {
                        try await writer.write(ByteBuffer(string: "first"))
                        try await hasRead.wait()
                        try await writer.write(ByteBuffer(string: "second"))
                        try await writer.finish(nil)
                    }
                })
        }
        try await serve(respond) { channel in
            try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "GET /a HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"))
                var text = ""
                for try await bytes in inbound {
                    text += String(buffer: bytes)
                    if text.contains("first") { hasRead.fire() }
                }
                #expect(text.contains("second"))
            }
        }
    }

    @Test("a client that does not read holds the answer back, and its end ends the answer")
    func unread() async throws {
        let (written, failed) = (LockedValue(0), OneShotSignal())
        let piece = ByteBuffer(repeating: 1, count: 64 << 10)
        let respond: Responder = { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    do {
                        for _ in 0..<4096 {
                            try await writer.write(piece)
                            written.withLock { $0 += 1 }
                        }
                    } catch {
                        failed.fire()
                        throw error
                    }
                })
        }
        try await serve(respond) { channel in
            // Nothing reads this channel, whose own reads stop at some bytes.
            try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "GET /a HTTP/1.1\r\nhost: a\r\n\r\n"))
                var last = -1
                while last != written.withLock({ $0 }) || last == 0 {
                    last = written.withLock { $0 }
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(last < 4096)
            }
            try await failed.wait()
        }
    }
}

extension OneShotSignal {
    /// Returns once the signal has fired.
    fileprivate func wait() async throws {
        while !hasFired { try await Task.sleep(for: .milliseconds(5)) }
    }
}
