import Crypto
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `GET /v1/listen` and `/v1/listen/pcm`: live audio over a socket; `POST /v1/listen`: a whole recording (streaming.md 1
/// and 3).
struct ListenRoutes: Sendable {
    let engine: any LiveEngine
    let recognitions: Recognitions
    let authenticator: Authenticator
    let identifiers: IdentifierSource
    let clock: ScribeClock
    let settings: ListenFamily.Settings
    let counts: SocketCounts

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("v1/listen") { try await listen($0, $1, at: .stream) }
        router.get("v1/listen/pcm") { try await listen($0, $1, at: .samples) }
        router.post("v1/listen", use: recognise)
    }

    private func listen(_ request: Request, _ context: ScribeContext, at door: ListenQuery.Door) async throws
        -> Response
    {
        let credentials = ListenCredentials(request.headers)
        guard let upgrade = WebSocketUpgrade(request) else {
            _ = try await principal(credentials)
            throw ListenError.upgradeRequired
        }
        var limits = WebSocketUpgrade.Limits()
        // Three seconds of audio in one message are usual, and a minute is not too much.
        limits.messageSize = 16 << 20
        let id = identifiers.uuid()
        let headers: HTTPFields = [.dgRequestID: id]
        let principal: Principal
        do {
            principal = try await self.principal(credentials)
        } catch HTTPProblem.unauthenticated where credentials.isSubprotocol {
            // Browsers and phones see no answer to an upgrade that is refused, but they see how a socket closes.
            return upgrade.response(
                subprotocol: credentials.agreed, headers: headers, limits: limits, clock: clock, request,
                context: context
            ) { _, _ in WebSocketClosure(1008, "401 INVALID_AUTH: Invalid credentials.") }
        }
        let query = try ListenQuery(request.uri.queryParameters, at: door, speaksSubQ: settings.speaksSubQ)
        let place = try counts.take(principal.business)
        return upgrade.response(
            subprotocol: credentials.agreed, headers: headers, limits: limits, clock: clock, request, context: context
        ) { socket, messages in
            defer { place.giveBack() }
            let session = ListenSession(
                engine: engine, query: query, request: id, clock: clock, settings: settings, socket: socket)
            return try await session.serve(messages)
        }
    }

    /// A whole recording: its bytes are the body, whatever the content type says of them (streaming.md 1.8).
    @Sendable private func recognise(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try await principal(ListenCredentials(request.headers))
        let query = try ListenQuery(request.uri.queryParameters, at: .recording, speaksSubQ: settings.speaksSubQ)
        let type = request.headers[.contentType]?.lowercased() ?? ""
        guard !type.hasPrefix("application/json") else {
            throw ScribeError.invalidRequest(
                field: "url", problem: "is not fetched here yet; send the recording itself")
        }
        guard request.uri.queryParameters["callback"] == nil else {
            throw ScribeError.invalidRequest(field: "callback", problem: "is not called here yet; wait for the answer")
        }
        let languages = try query.spokenLanguages
        let id = identifiers.uuid()
        let hearing = try await context.whileAwaited {
            try await recognitions.hear(
                request.body, samples: query.samples, size: request.headers[.contentLength].flatMap { Int($0) },
                languages: languages, for: principal)
        }
        let answer = ListenRecording(
            hearing, query, request: id, speaksSubQ: settings.speaksSubQ, at: clock.now, id: identifiers.uuid)
        var response = try Response.json(.ok, answer)
        response.headers[.dgRequestID] = id
        return response
    }

    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    private func principal(_ credentials: ListenCredentials) async throws -> Principal {
        if let key = credentials.key, let principal = authenticator.clients.principal(ofKey: key) { return principal }
        return try await authenticator.principal(offering: [credentials.key].compactMap(\.self))
    }
}
