package import Foundation

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

    package init(_ content: Content, from sender: Sender, at time: Date) {
        self.content = content
        self.sender = sender
        self.time = time
    }
}
