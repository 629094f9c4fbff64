import NIOCore
import NIOHTTP1

/// Switch of one HTTP/1 connection to WebSocket. After it, bytes pass as the body of the request and of its answer.
struct ProtocolSwitch {
    /// Whether the request being read may switch.
    var isPossible = false
    private var hasInputEnded = false
    /// Whether a read was requested while a request for a switch awaits its answer.
    ///
    /// Bytes behind that request wait in the parser; they are at most one read.
    private var isReadHeld = false

    mutating func holdRead() { isReadHeld = true }

    /// Returns whether a read was held, and lets it go.
    mutating func takeHeldRead() -> Bool {
        defer { isReadHeld = false }
        return isReadHeld
    }

    /// Ends the client's bytes in the other protocol.
    /// - Returns: False if they had ended before.
    mutating func endInput() -> Bool {
        defer { hasInputEnded = true }
        return !hasInputEnded
    }

    /// Whether bytes of the client still pass.
    var passesInput: Bool { !hasInputEnded }

    /// Replaces the HTTP codec before a handler with one that passes bytes.
    /// - Returns: Done once the parser has passed on the bytes behind the request, the first of the new protocol.
    /// - Throws: `ChannelPipelineError` if the connection has no codec.
    static func replaceCodec(
        before handler: ConnectionGuard, _ limits: ConnectionLimits, _ context: ChannelHandlerContext
    ) throws -> EventLoopFuture<Void> {
        let pipeline = context.pipeline.syncOperations
        let parser = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
        try pipeline.addHandler(RawBytes(limits), position: .before(handler))
        pipeline.removeHandler(context: encoder, promise: nil)
        let removed = context.eventLoop.makePromise(of: Void.self)
        pipeline.removeHandler(context: parser, promise: removed)
        return removed.futureResult
    }
}
