package import Foundation
package import NIOCore

/// Message of a socket in a journal.
package struct RecordedFrame: Sendable {
    package enum Sender: String, Sendable {
        case client, server
    }

    package enum Content: Sendable {
        case text(RecordedBody)
        case binary(RecordedBody)
        case ping, pong
        case close(code: UInt16, reason: String)
    }

    package let time: Date
    package let sender: Sender
    package let content: Content
}

extension RecordedFrame.Content {
    /// A message.
    /// - Parameter mode: without ``JournalMode/full`` only the size is kept.
    package static func message(_ payload: ByteBuffer, isText: Bool, _ mode: JournalMode) -> Self {
        var body = RecordedBody(size: payload.readableBytes)
        if mode.isFull {
            body = RecordedBody(type: isText ? "text/plain" : "audio")
            _ = body.add(payload)
        }
        return isText ? .text(body) : .binary(body)
    }

    /// A reason may repeat spoken words.
    var withoutReason: Self {
        if case .close(let code, _) = self { return .close(code: code, reason: "") }
        return self
    }

    /// About the memory that the frame takes, in bytes.
    var size: Int {
        switch self {
        case .text(let body), .binary(let body): 300 + (body.text?.storageCapacity ?? 0)
        case .ping, .pong: 200
        case .close(_, let reason): 200 + reason.utf8.count
        }
    }
}
