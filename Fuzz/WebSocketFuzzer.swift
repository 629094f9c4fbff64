import Connections
import Foundation
import NIOCore

@testable import ScribeHTTP

/// The frames of a client: the same messages come out however they are cut.
@Sendable func fuzzWebSocket(_ data: Data) {
    func read(_ size: Int) -> (messages: [WebSocketMessage], closure: WebSocketClosure?) {
        var decoder = WebSocketDecoder(limit: 1 << 16)
        var messages: [WebSocketMessage] = []
        var rest = ByteBuffer(bytes: data)
        while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
            decoder.receive(piece)
            do {
                while let message = try decoder.next() { messages.append(message) }
            } catch {
                return (messages, error)
            }
        }
        return (messages, nil)
    }
    let whole = read(.max)
    let pieces = read(3)
    require(whole.messages == pieces.messages && whole.closure == pieces.closure, "frames are read alike")
}
