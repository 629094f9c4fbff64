import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/ws/stream`: a session's audio over a socket (suki.md 6). Who may not is told before anything is upgraded.
struct StreamRoutes: Sendable {
    let sessions: AmbientSessions
    let clinicians: Clinicians
    let sockets: AmbientSockets
    let counts: SocketCounts
    let clock: ScribeClock

    /// The only subprotocol there is; a token that comes beside it is never sent back.
    private static let subprotocol = "SukiAmbientAuth"

    func add(to router: RouterGroup<ScribeContext>) { router.get("ws/stream", use: stream) }

    @Sendable private func stream(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let upgrade = WebSocketUpgrade(request)
        let handshake = Handshake(request.headers, upgrade?.subprotocols ?? [])
        let principal = try await clinicians.principal(
            of: handshake.token, for: request.headers[.sukiProvider])
        guard let upgrade else { throw SukiError.upgradeRequired }
        guard let text = handshake.session else {
            throw SukiError(.badRequest, "invalid_request", "say which session: ambient_session_id")
        }
        guard let id = AmbientID(text)?.transaction else { throw ScribeError.transactionNotFound }
        let place = try counts.take(principal.business)
        try await sessions.connect(id, of: principal)
        return upgrade.response(
            subprotocol: handshake.usesSubprotocol ? Self.subprotocol : nil, limits: .init(), clock: clock, request,
            context: context
        ) { socket, messages in
            let open = await sockets.open(socket, for: id, of: principal.business)
            defer {
                sockets.end(open, for: id, of: principal.business)
                place.giveBack()
            }
            return try await StreamSession(
                sessions: sessions, id: id, principal: principal, socket: socket, place: open, clock: clock
            ).serve(messages)
        }
    }

    /// What a client says of itself: in headers, or as a page can, in subprotocols (suki.md 6.1).
    private struct Handshake {
        let token: String?
        let session: String?
        let usesSubprotocol: Bool

        init(_ headers: HTTPFields, _ subprotocols: [String]) {
            // Older pages put blanks between them.
            let words = subprotocols.flatMap { $0.split(separator: " ").map(String.init) }
            usesSubprotocol = words.first == StreamRoutes.subprotocol
            if usesSubprotocol {
                session = words.count > 1 ? words[1] : nil
                token = words.count > 2 ? words[2] : nil
            } else {
                session = headers[.ambientSession]
                token = headers[.sukiToken]
            }
        }
    }
}
