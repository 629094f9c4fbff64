import Basics
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Outbound
import ScribeDomain

/// Opens WebSockets to a speech service named in the configuration.
struct UpstreamSocket: Sendable {
    typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    private let host: String
    private let port: Int
    private let path: String
    private let headers: HTTPHeaders
    private let tls: NIOSSLContext?
    private let identifiers: IdentifierSource

    /// Largest accepted message, in bytes.
    private static let longestMessage = 1 << 20
    private static let patience = TimeAmount.seconds(10)

    /// Creates a connector for a URL.
    /// - Throws: ``EngineFailure`` for an invalid URL.
    init(_ url: URL, headers: [(String, String)], trust: OutboundTrust, identifiers: IdentifierSource) throws {
        guard let host = url.host(), let scheme = url.scheme,
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        else { throw EngineFailure(.transcriptionFailed, "the service has no address") }
        let isSecure = ["https", "wss"].contains(scheme)
        self.host = host.trimmingCharacters(in: ["[", "]"])
        port = url.port ?? (isSecure ? 443 : 80)
        path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        self.headers = HTTPHeaders(
            [("Host", url.port.map { "\(host):\($0)" } ?? host)] + headers)
        tls = isSecure ? try NIOSSLContext(configuration: trust.configuration) : nil
        self.identifiers = identifiers
    }

    /// Opens a WebSocket.
    /// - Throws: ``EngineFailure`` if the service does not accept it.
    func open() async throws -> Channel {
        let upgraded: EventLoopFuture<Channel?> = try await ClientBootstrap(
            group: .singletonMultiThreadedEventLoopGroup
        )
        .connectTimeout(.seconds(5))
        .connect(host: host, port: port) { channel in
            channel.eventLoop.makeCompletedFuture { try configure(channel) }
        }
        guard let channel = try await upgraded.get() else {
            throw EngineFailure(.transcriptionFailed, "the service refuses live recognition", isRetryable: true)
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
    func frame(_ opcode: WebSocketOpcode, _ payload: ByteBuffer = ByteBuffer()) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: WebSocketMaskingKey(identifiers.bytes(4)), data: payload)
    }
}
