import Basics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `GET …/recording`: issues a link for each audio segment of an ambient session, and serves the links (suki.md 3.13).
struct RecordingRoutes: Sendable {
    let sessions: AmbientSessions
    let tickets: Tickets
    let origin: LinkOrigin

    private var runtime: Runtime { sessions.runtime }

    private static let purpose = "ambient recording"
    private static let downloadPurpose = "ambient recording as a file"

    /// Time that recordings are kept after a session's end, in seconds.
    private static let kept: TimeInterval = 7 * 86_400
    private static let streamTime: TimeInterval = 15 * 60
    /// Validity of a long session's link beyond its length, in seconds.
    private static let spareTime: TimeInterval = 10 * 60
    private static let downloadTime: TimeInterval = 3600

    /// Components of a link's path before its ticket.
    static let links: [Substring] = ["api", "v1", "ambient", "recordings"]

    static func add(to authenticated: WorldRoutes<Self>, links: WorldRoutes<Self>) {
        authenticated.get("api/v1/ambient/session/{txn_id}/recording", use: find)
        links.get("api/v1/ambient/recordings/{ticket}", use: play)
    }

    @Sendable private func find(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let isDownload = try request.isAsked("download")
        let recorded = try await recorded(id, of: principal)
        let length = recorded.total(\.seconds)
        let streamTime = length > Self.streamTime ? length + Self.spareTime : Self.streamTime
        let lifetime = isDownload ? Self.downloadTime : streamTime
        let base = origin.base(of: request, context)
        let recordings = try JSON.array(recorded.enumerated()) { index, segment in
            let ticket = try tickets.issue(
                isDownload ? Self.downloadPurpose : Self.purpose, for: "\(id) \(segment.recording)", to: principal,
                lifetime: lifetime)
            return [
                "recording_id": .string(segment.recording),
                "presigned_url": "\(base)/api/v1/ambient/recordings/\(ticket)",
                // Seconds since 1970.
                "expires_at": .integer(Int(saturating: runtime.clock.wall.now.timeIntervalSince1970 + lifetime)),
                "sequence_number": .integer(index + 1),
            ]
        }
        return try await .longJSON(.ok, ["recordings": recordings, "is_streamable": true])
    }

    @Sendable private func play(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let ticket = context.text(of: "ticket") else { throw SukiError.unknownLink }
        let streamed = tickets.redeem(ticket, Self.purpose)
        guard let (subject, principal) = streamed ?? tickets.redeem(ticket, Self.downloadPurpose) else {
            throw SukiError.unknownLink
        }
        let words = subject.split(separator: " ").map(String.init)
        guard words.count == 2 else { throw SukiError.unknownLink }
        let id = TransactionID(words[0])
        let recorded = try await recorded(id, of: principal)
        guard let segment = recorded.first(where: { $0.recording == words[1] }) else {
            throw SukiError.recordingNotFound
        }
        let location = sessions.location(of: id)
        guard
            let objects = try await runtime.store.audio.objects(
                business: principal.business, bucket: location.bucket,
                keys: segment.files.map { location.key(ofFile: $0.name) })
        else { throw SukiError.recordingNotFound }
        let audio = JoinedWave(objects, uploads: runtime.uploads)
        var headers: HTTPFields = [
            .contentType: "audio/wav", .acceptRanges: "bytes", .cacheControl: "no-store",
        ]
        if streamed == nil {
            headers[.contentDisposition] = "attachment; filename=\"\(segment.recording).wav\""
        }
        headers.sandboxLink(for: request.headers.value(of: .origin))
        var bytes = 0..<audio.size
        var status = HTTPResponse.Status.ok
        do {
            if let text = request.headers.value(of: .range), let range = try ByteRange(text, of: audio.size) {
                bytes = Range(range.bytes)
                status = .partialContent
                headers[.contentRange] = range.contentRange(of: audio.size)
            }
        } catch {
            throw SukiError.rangeNotSatisfiable(audio.size)
        }
        return Response(status: status, headers: headers, body: audio.body(of: bytes))
    }

    /// The audio segments of an ended session.
    /// - Throws: ``SukiError``, and as ``AmbientSessions/find(_:of:)``.
    private func recorded(_ id: TransactionID, of principal: Principal) async throws -> [AudioSegment] {
        let session = try await sessions.find(id, of: principal)
        switch sessions.status(of: session) {
        case .created, .ready, .running: throw SukiError.recordingNotReady
        case .aborted: throw SukiError.recordingNotFound
        case .completed, .skipped, .failed: break
        }
        if let end = session.committedAt, runtime.clock.now.timeIntervalSince(end) >= Self.kept {
            throw SukiError.recordingExpired
        }
        let recorded = try await runtime.store.transactions.segments(of: session.key).recorded
        guard !recorded.isEmpty else { throw SukiError.recordingNotFound }
        return recorded
    }
}
