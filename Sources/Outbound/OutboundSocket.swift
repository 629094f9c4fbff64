package import Basics
package import Foundation
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import NIOWebSocket

/// Opens WebSockets to another server: a speech service named in the configuration, or a client's callback.
package struct OutboundSocket: Sendable {
    package typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    private let host: String
    /// Host or address to connect to.
    private let target: String
    private let port: Int
    private let path: String
    private let headers: HTTPHeaders
    private let tls: NIOSSLContext?
    private let identifiers: IdentifierSource

    /// Largest accepted message, in bytes.
    private static let longestMessage = 1 << 20
    private static let patience = TimeAmount.seconds(10)

    /// Creates a connector for a URL.
    /// - Parameter target: an address of its host that was checked; nil to look the host up.
    /// - Throws: ``OutboundError/invalid(_:)``.
    package init(
        _ url: URL, at target: String? = nil, headers: [(String, String)], trust: OutboundTrust,
        identifiers: IdentifierSource
    ) throws {
        guard let host = url.host(), let scheme = url.scheme,
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        else { throw OutboundError.invalid("names no host") }
        let isSecure = ["https", "wss"].contains(scheme)
        self.host = host.trimmingCharacters(in: ["[", "]"])
        self.target = target ?? self.host
        port = url.port ?? (isSecure ? 443 : 80)
        path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        self.headers = HTTPHeaders(
            [("Host", url.port.map { "\(host):\($0)" } ?? host)] + headers)
        tls = isSecure ? try NIOSSLContext(configuration: trust.configuration) : nil
        self.identifiers = identifiers
    }

    /// Opens a WebSocket.
    /// - Throws: ``OutboundError/unreachable`` if the server does not accept it, and the errors of the connection.
    package func open() async throws -> Channel {
        let upgraded: EventLoopFuture<Channel?> = try await ClientBootstrap(
            group: .singletonMultiThreadedEventLoopGroup
        )
        .connectTimeout(.seconds(5))
        .connect(host: target, port: port) { channel in
            channel.eventLoop.makeCompletedFuture { try configure(channel) }
        }
        guard let channel = try await upgraded.get() else {
            throw OutboundError.unreachable
        }
        return channel
    }

    private func configure(_ channel: any NIOCore.Channel) throws -> EventLoopFuture<Channel?> {
        if let tls {
            // The certificate's name is checked. TLS sends no server name for an IP address.
            let name = IPAddress(host) == nil ? host : nil
            try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
        }
        let upgrader = NIOTypedWebSocketClientUpgrader<Channel?>(
            requestKey: Data(identifiers.bytes(16)).base64EncodedString(), maxFrameSize: Self.longestMessage
        ) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 1000,
                        maxAccumulatedFrameSize: Self.longestMessage))
                return try Channel(wrappingChannelSynchronously: channel)
            }
        }
        var configuration = NIOUpgradableHTTPClientPipelineConfiguration(
            upgradeConfiguration: NIOTypedHTTPClientUpgradeConfiguration(
                upgradeRequestHead: HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers),
                upgraders: [upgrader],
                notUpgradingCompletionHandler: { channel in
                    channel.close().map { nil }
                }))
        // A service may send frames together with its upgrade answer.
        configuration.leftOverBytesStrategy = .forwardBytes
        let upgraded = try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: configuration)
        // A server that accepts the connection but never answers must not block forever.
        let late = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        upgraded.whenComplete { _ in late.cancel() }
        return upgraded
    }

    /// Masked frame, as clients must send it (RFC 6455, 5.3), so that no proxy misreads the payload.
    package func frame(_ opcode: WebSocketOpcode, _ payload: ByteBuffer = ByteBuffer()) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: WebSocketMaskingKey(identifiers.bytes(4)), data: payload)
    }
}
