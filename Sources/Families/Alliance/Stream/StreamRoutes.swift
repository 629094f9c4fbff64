import Engines
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/voice/v1/stream/sessions/{stream}/audio`: receives a protocol session's audio over a WebSocket
/// (medscribe.md 2.5).
///
/// The link itself is the credential: its client sends no other (row 58).
struct StreamRoutes: Sendable {
    let sessions: ProtocolSessions
    let streams: SessionStreams
    let tickets: Tickets
    let sockets: SocketRoute

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/v1/stream/sessions/{stream}/audio", use: stream)
    }

    @Sendable private func stream(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let ticket = context.text(of: "stream"),
            let (subject, principal) = tickets.redeem(ticket, UploadLinks.streamPurpose)
        else { throw AllianceError.unknownLink }
        let id = TransactionID(subject)
        let key = Transaction.Key(business: principal.business, id: id)
        _ = try await sessions.requireOpen(key)
        guard let upgrade = WebSocketUpgrade(request) else { throw AllianceError.upgradeRequired }
        let options = LiveOptions()
        let entry = try sockets.enter(principal, context)
        let recording = try await streams.begin(id, options, for: principal)
        return sockets.response(to: upgrade, in: entry, request, context) { session, messages in
            session.atEnd {
                defer { streams.end(recording, of: key) }
                try await recording.breakOff()
            }
            return try await StreamSession(recording: recording).serve(messages, session.idle)
        }
    }
}
