import Basics
import HummingbirdCore
import NIOCore

/// Input of a client, of unbounded length. Code can read the content off the event loops only, unless it is short.
package struct LargeInput<Content: Sendable>: Sendable {
    private let content: Content
    /// In bytes.
    private let size: Int

    init(_ content: Content, size: Int) {
        self.content = content
        self.size = size
    }

    /// Runs work on the content, all of which must be in `work`: parsing, decoding and searching.
    package func read<Value: Sendable>(_ work: (Content) throws -> Value) async rethrows -> Value {
        try await EventLoopOffload.run(bytes: size) { try work(content) }
    }
}

extension LargeInput<ByteBuffer> {
    var isEmpty: Bool { size == 0 }

    /// A request's body with the same bytes.
    var body: RequestBody { RequestBody(buffer: content) }
}
