import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import Outbound

/// Probes a speech service by opening a connection, without a request.
struct ServiceConnection: Sendable {
    private let host: String
    private let port: Int
    private let trust: OutboundTrust?

    private static let patience = TimeAmount.seconds(10)

    init(_ service: SpeechService) {
        let isSecure = service.baseURL.scheme == "https"
        host = (service.baseURL.host() ?? "").trimmingCharacters(in: ["[", "]"])
        port = service.baseURL.port ?? (isSecure ? 443 : 80)
        trust = isSecure ? service.trust : nil
    }

    /// Connects, with TLS if the service uses it, and closes the connection. Nil if the service is reachable.
    func probe() async -> FailedProbe? {
        do {
            let tls = try trust.map { try NIOSSLContext(configuration: $0.configuration) }
            let opened = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(Self.patience)
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        Opened(channel: channel, handshake: try handshake(on: channel, by: tls))
                    }
                }
            defer { opened.channel.close(promise: nil) }
            try await opened.handshake.get()
            return nil
        } catch {
            return FailedProbe(
                asked: "a \(trust == nil ? "TCP" : "TLS") connection to \(host):\(port)", answer: "\(error)")
        }
    }

    private struct Opened: Sendable {
        let channel: any Channel
        /// Completes once the server has presented a trusted certificate.
        let handshake: EventLoopFuture<Void>
    }

    private func handshake(on channel: any Channel, by tls: NIOSSLContext?) throws -> EventLoopFuture<Void> {
        guard let tls else { return channel.eventLoop.makeSucceededVoidFuture() }
        let name = IPAddress(host) == nil ? host : nil
        let done = channel.eventLoop.makePromise(of: Void.self)
        try channel.pipeline.syncOperations.addHandlers(
            NIOSSLClientHandler(context: tls, serverHostname: name), TLSHandshake(promise: done))
        let late = channel.eventLoop.scheduleTask(in: Self.patience) {
            done.fail(ChannelError.connectTimeout(Self.patience))
        }
        done.futureResult.whenComplete { _ in late.cancel() }
        return done.futureResult
    }
}

/// Reports the outcome of a TLS handshake.
private final class TLSHandshake: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<Void>

    init(promise: EventLoopPromise<Void>) { self.promise = promise }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { promise.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { promise.fail(error) }

    /// Also called for a connection that was never made.
    func handlerRemoved(context: ChannelHandlerContext) { promise.fail(ChannelError.eof) }
}
