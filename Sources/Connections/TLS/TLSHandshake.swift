import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// Event that closes a connection at once, without a TLS close_notify.
struct HangUp: Sendable {}

/// Supervises the TLS handshake: its timeout, and clear messages for its failures.
///
/// It has a handler on each side of TLS. The one before sees raw bytes, and answers plain HTTP; the one behind sees the
/// handshake's result.
final class TLSHandshake {
    private let limits: ConnectionLimits
    private let logger: Logger
    private var hasHeard = false
    private var isOver = false

    init(limits: ConnectionLimits, logger: Logger) {
        self.limits = limits
        self.logger = logger
    }

    /// Adds TLS to a pipeline, with the handlers around it.
    func install(_ encryption: NIOSSLServerHandler, in pipeline: ChannelPipeline.SynchronousOperations) throws {
        try pipeline.addHandlers([HangUpHandler(), PreTLS(self), encryption, PostTLS(self)])
    }

    private func logFailure(_ problem: String, of channel: any Channel) {
        guard !isOver else { return }
        isOver = true
        logger.notice(
            "no encrypted connection: \(problem)", metadata: ["address": "\(channel.remoteAddress?.ipAddress ?? "")"])
    }

    /// Outermost handler: closes the socket on ``HangUp``.
    private final class HangUpHandler: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
            guard event is HangUp else { return context.triggerUserOutboundEvent(event, promise: promise) }
            context.close(promise: promise)
        }
    }

    private final class PreTLS: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let handshake: TLSHandshake
        private var timer: Scheduled<Void>?
        private var isRefused = false

        init(_ handshake: TLSHandshake) { self.handshake = handshake }

        func handlerAdded(context: ChannelHandlerContext) {
            let time = handshake.limits.requestTime
            close(context, after: TimeAmount(time)) { [handshake] in
                handshake.logFailure("it was not there after \(time)", of: context.channel)
            }
        }

        func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isRefused else { return }
            if !handshake.hasHeard, unwrapInboundIn(data).beginsLikeHTTP {
                isRefused = true
                return answer(context)
            }
            handshake.hasHeard = true
            context.fireChannelRead(data)
        }

        /// Answers plain HTTP in clear text, so that a client on the wrong port can read the hint.
        private func answer(_ context: ChannelHandlerContext) {
            handshake.logFailure(
                "a client spoke plain HTTP to the port for TLS; use https there, or the other port", of: context.channel
            )
            let text = "This port speaks TLS: use https. Plain HTTP has a port of its own.\n"
            let head = """
                HTTP/1.1 400 Bad Request\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Length: \(text.utf8.count)\r
                Connection: close\r
                \r

                """
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { [limits = handshake.limits] _ in
                context.close(mode: .output, promise: nil)
                self.close(context, after: limits.drainTime) {}
            }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + text)), promise: written)
        }

        private func close(_ context: ChannelHandlerContext, after time: TimeAmount, _ before: @escaping () -> Void) {
            timer?.cancel()
            timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
                before()
                context.close(promise: nil)
            }
        }
    }

    private final class PostTLS: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let handshake: TLSHandshake
        private var isDone = false

        init(_ handshake: TLSHandshake) { self.handshake = handshake }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent {
                isDone = true
                handshake.isOver = true
                let pipeline = context.pipeline.syncOperations
                if let front = try? pipeline.context(handlerType: PreTLS.self) {
                    pipeline.removeHandler(context: front, promise: nil)
                }
            }
            // The server stops: nothing was begun that could be finished.
            if event is ChannelShouldQuiesceEvent, !isDone { context.close(promise: nil) }
            context.fireUserInboundEventTriggered(event)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if case NIOSSLError.uncleanShutdown = error {
                // Clients often disconnect without close_notify, over TLS as without. Other handlers notice unfinished
                // requests.
                return
            }
            if !isDone {
                if handshake.hasHeard { handshake.logFailure(Self.explanation(of: error), of: context.channel) }
                handshake.isOver = true
                context.close(promise: nil)
            }
            context.fireErrorCaught(error)
        }

        /// Explains a handshake error, as far as clients' alerts and BoringSSL's messages tell.
        private static func explanation(of error: any Error) -> String {
            let text = "\(error)"
            let known = [
                ("UNKNOWN_CA", untrusted), ("ALERT_CERTIFICATE_UNKNOWN", untrusted),
                ("ALERT_BAD_CERTIFICATE", untrusted),
                // OpenSSL sends this alert in clear text, where BoringSSL expects ciphertext.
                ("DECRYPTION_FAILED", untrusted),
                ("CERTIFICATE_EXPIRED", "the client finds the certificate expired; is its clock right?"),
                ("UNSUPPORTED_PROTOCOL", "the client offers nothing newer than TLS 1.1, and 1.2 is the least"),
                ("NO_SHARED_CIPHER", "the client offers no cipher suite that is safe"),
                (
                    "EOF during handshake",
                    "the client hung up in the middle of it, as those do that do not trust a certificate"
                ),
                ("WRONG_VERSION_NUMBER", "what the client sends is no TLS"),
            ]
            return known.first { text.contains($0.0) }?.1 ?? "\(error)"
        }

        private static let untrusted =
            "the client does not trust the certificate; `scribe-emulator trust` says how it will, and `scribe-emulator doctor` looks"
    }
}

extension ByteBuffer {
    /// Whether the bytes may begin an HTTP method; a TLS record never begins with a letter.
    fileprivate var beginsLikeHTTP: Bool {
        guard let first: UInt8 = getInteger(at: readerIndex) else { return false }
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first)
    }

    /// Whether the bytes begin a TLS handshake record.
    var beginsLikeTLS: Bool {
        readableBytes >= 3 && getInteger(at: readerIndex, as: UInt8.self) == 0x16
            && getInteger(at: readerIndex + 1, as: UInt8.self) == 0x03
    }
}
