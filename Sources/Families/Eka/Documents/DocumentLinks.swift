import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Issues and serves links with which a page reads or writes a document's text without a token (medscribe.md 2.10).
///
/// Each link is a credential: for one document, for reading or for writing, for one hour.
struct DocumentLinks: Sendable {
    /// The links of one document.
    struct Links: Hashable, Sendable {
        let read: String
        let write: String
        /// End of validity of both links, in seconds since 1970.
        let expiry: Int
    }

    private static let reading = "document read"
    private static let writing = "document write"
    /// Validity of a link, in seconds.
    private static let lifetime: TimeInterval = 3600
    private static let path = "voice/api/v1/documents/content"

    /// Components of a link's path before its ticket.
    static let components: [Substring] = path.split(separator: "/")

    let world: World
    let origin: LinkOrigin

    func links(
        to document: DocumentID, for principal: Principal, _ request: Request, _ context: ScribeContext
    ) throws -> Links {
        func link(_ purpose: String) throws -> String {
            let ticket = try world.tickets.issue(
                purpose, for: document.rawValue, to: principal, lifetime: Self.lifetime)
            return "\(origin.base(of: request, context))/\(Self.path)/\(ticket)"
        }
        return Links(
            read: try link(Self.reading), write: try link(Self.writing),
            expiry: Int(saturating: world.runtime.clock.wall.now.timeIntervalSince1970 + Self.lifetime))
    }

    static func add(to router: WorldRoutes<Self>) {
        router.get("\(Self.path)/{ticket}", use: read)
        router.put("\(Self.path)/{ticket}", use: write)
    }

    /// Serves a document's text. A note goes as base64, as in every result.
    ///
    /// A note that was last written through a link goes as plain text, and so does a transcript.
    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (found, _) = try await document(context, Self.reading)
        guard found.document.status.isFinal, let text = found.document.value else {
            throw ScribeError.resourceNotFound("Nothing is written yet")
        }
        let isTranscript = found.document.shownKind == .transcript
        let isRaw = isTranscript || found.isPlainByLink
        let type = isTranscript ? "text/plain; charset=utf-8" : "text/markdown; charset=utf-8"
        var headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        headers.sandboxLink(for: request.headers.value(of: .origin))
        let body = await EventLoopOffload.run(bytes: text.utf8.count) {
            ByteBuffer(string: isRaw ? text : Data(text.utf8).base64EncodedString())
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// Stores a new text as a user's edit. A note may come as base64 or as plain text.
    @Sendable private func write(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (found, business) = try await document(context, Self.writing)
        let isNote = found.document.shownKind != .transcript
        let change = try await request.collectedBody(upTo: Request.jsonBodyLimit, in: context)
            .read { try Self.change(to: $0, isNote: isNote) }
        _ = try await world.runtime.store.documents.rewrite(
            found.document.id, of: business, change, at: world.runtime.clock.now)
        return .json(.ok, .success("Document saved successfully"))
    }

    /// Decodes the body of a write into a change of the document.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a text that cannot be stored.
    private static func change(to body: ByteBuffer, isNote: Bool) throws -> DocumentChange {
        guard let sent = String(validating: body.readableBytesView, as: UTF8.self) else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be text in UTF-8")
        }
        let decoded = isNote ? decoded(sent) : nil
        let text = decoded ?? sent
        guard !CombiningMarks.areTooMany(in: text.utf8) else {
            throw ScribeError.invalidRequest(field: nil, problem: "has too many combining marks in a row")
        }
        return DocumentChange(value: text.storable, isPlainByLink: decoded == nil)
    }

    private static func decoded(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.count % 4 == 0, let data = Data(base64Encoded: text) else { return nil }
        return String(validating: data, as: UTF8.self)
    }

    private func document(_ context: ScribeContext, _ purpose: String) async throws -> (DocumentRecord, BusinessID) {
        guard let ticket = context.text(of: "ticket"), let (subject, principal) = world.tickets.redeem(ticket, purpose)
        else {
            throw EkaError.linkRefused
        }
        guard let found = try await world.runtime.store.documents.document(DocumentID(subject), of: principal.business)
        else {
            throw ScribeError.resourceNotFound("Document not found")
        }
        return (found, principal.business)
    }
}
