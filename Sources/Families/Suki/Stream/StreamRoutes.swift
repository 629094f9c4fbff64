import Basics
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/ws/stream`: receives an ambient session's audio over a WebSocket (suki.md 6).
///
/// Errors of login are answered before the upgrade.
struct StreamRoutes: Sendable {
    let sessions: AmbientSessions
    let clinicians: Clinicians
    let ambient: AmbientSockets
    let sockets: SocketRoute
    let clock: WallClock

    /// The only subprotocol. A token offered beside it is never sent back.
    private static let subprotocol = "SukiAmbientAuth"

    static func add(to router: WorldRoutes<Self>) { router.get("ws/stream", use: stream) }

    /// The token of a socket's headers or subprotocols; nil without one.
    static func token(in headers: HTTPFields) -> String? {
        let offered = headers[values: .secWebSocketProtocol].flatMap { $0.split(separator: ",").map(String.init) }
        return Handshake(headers, offered).token
    }

    @Sendable private func stream(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let upgrade = WebSocketUpgrade(request)
        let handshake = Handshake(request.headers, upgrade?.subprotocols ?? [])
        let principal = try await clinicians.principal(
            of: handshake.token, for: request.headers.value(of: .sukiProvider))
        guard let upgrade else { throw SukiError.upgradeRequired }
        guard let text = handshake.session else {
            throw SukiError.invalidRequest("say which session: ambient_session_id")
        }
        guard let id = AmbientID(text)?.transaction else { throw ScribeError.transactionNotFound }
        let entry = try sockets.enter(principal, context)
        try await sessions.connect(id, of: principal)
        context.note(id)
        return sockets.response(
            to: upgrade, in: entry, subprotocol: handshake.usesSubprotocol ? Self.subprotocol : nil, request, context
        ) { session, messages in
            let open = await ambient.open(session.socket, for: id, of: principal.business)
            let stream = StreamSession(
                sessions: sessions, id: id, principal: principal, place: open, clock: clock)
            session.atEnd {
                defer { ambient.end(open, for: id, of: principal.business) }
                try await stream.endRecording()
            }
            return try await stream.serve(messages, session.idle)
        }
    }

    /// Parses session and token from headers or, as pages send them, from subprotocols (suki.md 6.1).
    private struct Handshake {
        let token: String?
        let session: String?
        let usesSubprotocol: Bool

        init(_ headers: HTTPFields, _ subprotocols: [String]) {
            // Older pages separate the subprotocols with spaces.
            let words = subprotocols.flatMap { $0.split(separator: " ").map(String.init) }
            usesSubprotocol = words.first == StreamRoutes.subprotocol
            if usesSubprotocol {
                session = words.count > 1 ? words[1] : nil
                token = words.count > 2 ? words[2] : nil
            } else {
                session = headers.value(of: .ambientSession)
                token = headers.value(of: .sukiToken)
            }
        }
    }
}
