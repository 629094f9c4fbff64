import Basics
import Connections
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `GET /v4/listen` and `/v4/web/listen`: receive a device's audio and recognised text (streaming.md 4.1 to 4.5).
struct OmiListenRoutes: Sendable {
    let world: World
    let engine: any LiveEngine
    let credentials: OmiCredentials
    let settings: OmiFamily.Settings
    let routes: SocketRoute
    let proxies: TrustedProxies
    let sockets: OmiSockets
    /// The routes of another world, for a page whose token names it.
    let ofOthers: @Sendable (World) -> OmiListenRoutes

    private var runtime: Runtime { world.runtime }

    private struct Login: Decodable {
        let type: String
        let token: String
    }

    private static let badToken = WebSocketClosure(1008, "Invalid authorization token")

    static func add(to router: WorldRoutes<Self>) {
        router.get("v4/listen", use: listen)
        router.get("v4/web/listen", use: listenToPage)
    }

    @Sendable private func listen(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try await credentials.principal(in: request.headers)
        guard let upgrade = WebSocketUpgrade(request) else { throw OmiError.upgradeRequired }
        return routes.response(to: upgrade, in: try routes.enter(principal, context), request, context) {
            try await serve(try Self.query(of: request), $0, $1, principal, context)
        }
    }

    /// Serves a page's socket: a page cannot set headers, so its first message carries the token.
    @Sendable private func listenToPage(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let upgrade = WebSocketUpgrade(request) else { throw OmiError.upgradeRequired }
        return routes.response(
            to: upgrade, from: proxies.client(of: request, context), late: Self.badToken, request, context,
            login: { message, socket in
                guard case .text(let text)? = message,
                    let login = JSONDocument.untrusted(Data(text.utf8), as: Login.self), login.type == "auth",
                    let target = target(of: login.token, context),
                    let principal = try await target.principal(of: login.token)
                else {
                    try await socket.send(["type": "auth_response", "success": false])
                    throw Self.badToken
                }
                context.enterSocket(of: target.world, principal)
                return ((target, principal), principal.business, target.world)
            },
            serve: { session, messages, login in
                let (target, principal) = login
                try await session.socket.send(["type": "auth_response", "success": true])
                var query = try Self.query(of: request)
                query.conversation = try await target.runtime.conversations.name(query.conversation, for: principal)
                query.sendsConversationIDs = true
                return try await target.world.serve(session.socket) {
                    try await target.serve(query, session, messages, principal, context)
                }
            })
    }

    /// The routes of the world that a page's token names.
    /// - Returns: nil if the page came by another namespace, or the token's does not exist any more.
    private func target(of token: String, _ context: ScribeContext) -> OmiListenRoutes? {
        guard let directory = context.directory, let name = directory.namespace(claimedBy: token),
            name != world.namespace
        else { return self }
        guard world.namespace == nil, let other = directory[name] else { return nil }
        return ofOthers(other)
    }

    /// The owner of a token.
    /// - Returns: nil for an invalid token.
    /// - Throws: ``WebSocketClosure`` if the token cannot be checked now; the page then reconnects and keeps its token.
    private func principal(of token: String) async throws(WebSocketClosure) -> Principal? {
        do {
            return try await credentials.principal(of: token)
        } catch OmiError.keysUnavailable {
            throw WebSocketClosure(1013, "The keys of the token's issuer cannot be fetched, try again")
        } catch {
            return nil
        }
    }

    private func serve(
        _ query: OmiQuery, _ session: SocketSession, _ messages: WebSocketMessages.Iterator, _ principal: Principal,
        _ context: ScribeContext
    ) async throws -> WebSocketClosure {
        let conversation = OmiConversation(
            runtime: runtime, principal: principal, query: query,
            timeout: query.timeout(atLeast: settings.conversationTimeout), sockets: sockets, socket: session.socket,
            pictures: OmiPicture(memory: session.makeShare()), memory: session.makeShare(),
            wordMemory: session.makeShare())
        let place = sockets.register(principal, context.clientDisconnect())
        session.atEnd {
            defer { place.giveBack() }
            // The conversation may have ended meanwhile, and its audio with it.
            try? await conversation.endAudio()
        }
        return try await OmiListener(
            conversation: conversation, engine: engine, query: query, tenant: principal.business.rawValue,
            clock: runtime.clock.wall, socket: session.socket, logger: context.logger
        ).serve(messages, session.idle)
    }

    /// Parses the query.
    /// - Throws: ``WebSocketClosure`` whose reason names the invalid parameter.
    private static func query(of request: Request) throws -> OmiQuery {
        do {
            return try OmiQuery(request.query)
        } catch {
            guard case .invalidRequest(let field, let problem) = error else {
                throw WebSocketClosure(1008, error.code)
            }
            throw WebSocketClosure(1008, "\(field ?? "query") \(problem)")
        }
    }
}
