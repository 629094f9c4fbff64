import Basics
import Foundation
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Streams conversations as JSON, in parts of some 256 KB.
///
/// Each part is one database read, finished before the part is sent. A list may hold eight megabytes of pictures for
/// each of a thousand conversations.
struct ConversationJSON: Sendable {
    let store: Store
    let principal: Principal

    /// The conversation was deleted during the answer: the JSON sent so far cannot be completed.
    private struct Gone: Error {}

    /// Answers with one conversation, inside a fixed JSON prefix and suffix.
    /// - Parameters:
    ///   - before: JSON before the conversation.
    ///   - after: JSON after the conversation.
    func response(with page: ConversationPage, between before: StaticString = "", and after: StaticString = "")
        -> Response
    {
        Self.response { output in
            output.text.write(before)
            try await write(page, to: &output)
            output.text.write(after)
        }
    }

    /// Answers with a list of conversations; those deleted meanwhile are left out.
    func response(listing ids: [String]) -> Response {
        Self.response { output in
            output.text.write("[")
            var isFirst = true
            for id in ids {
                guard let page = try await store.conversations.conversationPage(id, of: principal) else { continue }
                if !isFirst { output.text.write(",") }
                isFirst = false
                try await write(page, to: &output)
            }
            output.text.write("]")
        }
    }

    /// Answers with a conversation's photos.
    func response(withPhotosOf page: ConversationPage) -> Response {
        Self.response { output in try await writePhotos(of: page, to: &output) }
    }

    private static func response(_ write: @escaping @Sendable @concurrent (inout Output) async throws -> Void)
        -> Response
    {
        let body = ResponseBody { writer in
            var output = Output(writer: writer)
            try await write(&output)
            try await output.flush()
            try await output.writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "application/json"], body: body)
    }

    /// Buffers the answer's unsent bytes.
    private struct Output {
        var text = JSONText(capacity: ConversationStore.pageSize)
        var writer: any ResponseBodyWriter

        init(writer: any ResponseBodyWriter) { self.writer = writer }

        /// Sends the buffer once it holds a page.
        @concurrent mutating func flushPage() async throws {
            if text.bytes.count >= ConversationStore.pageSize { try await flush() }
        }

        @concurrent mutating func flush() async throws {
            let bytes = ByteBuffer(bytes: text.bytes)
            text = JSONText(capacity: ConversationStore.pageSize)
            try await writer.write(bytes)
        }
    }

    @concurrent private func write(_ page: ConversationPage, to output: inout Output) async throws {
        output.text.write(openObject: page.conversation.json)
        output.text.member("photos")
        try await writePhotos(of: page, to: &output)
        output.text.member("transcript_segments")
        output.text.write("[")
        var segments = page.segments
        var isFirst = true
        while true {
            await EventLoopOffload.run(bytes: ConversationStore.pageSize) {
                for segment in segments.items {
                    if !isFirst { output.text.write(",") }
                    isFirst = false
                    output.text.write(json: segment.json)
                }
            }
            try await output.flushPage()
            guard let next = segments.next else { break }
            segments = try await store.conversations.segmentPage(of: page.conversation.id, after: next)
        }
        output.text.write("]}")
    }

    @concurrent private func writePhotos(of page: ConversationPage, to output: inout Output) async throws {
        output.text.write("[")
        for (index, photo) in page.photos.enumerated() {
            if index > 0 { output.text.write(",") }
            output.text.write(openObject: ConversationPhoto.json(id: photo.id, photo.createdAt))
            output.text.member("base64")
            output.text.write("\"")
            var offset = 0
            while offset < photo.size {
                guard
                    let piece = try await store.conversations.photoPiece(
                        photo.id, of: page.conversation.id, from: offset),
                    !piece.isEmpty
                else { throw Gone() }
                offset += piece.utf8.count
                // Base64 contains no character that JSON escapes.
                output.text.write(plain: piece)
                try await output.flushPage()
            }
            output.text.write("\"}")
        }
        output.text.write("]")
    }
}
