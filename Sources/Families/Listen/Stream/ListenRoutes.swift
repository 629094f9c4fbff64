import Connections
import Crypto
import Engines
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Outbound
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `GET /v1/listen` and `/v1/listen/pcm`: recognises live audio over a WebSocket (streaming.md 1 and 3).
struct ListenRoutes: Sendable {
    let engine: any LiveEngine
    let runtime: Runtime
    let authentication: ListenAuthentication
    let settings: ListenFamily.Settings
    let sockets: SocketRoute

    static func add(to router: WorldRoutes<Self>) {
        router.get("v1/listen", use: listenToStream)
        router.get("v1/listen/pcm", use: listenToSamples)
    }

    @Sendable private func listenToStream(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await listen(request, context, at: .stream)
    }

    @Sendable private func listenToSamples(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await listen(request, context, at: .samples)
    }

    private func listen(_ request: Request, _ context: ScribeContext, at endpoint: ListenQuery.Endpoint) async throws
        -> Response
    {
        let credentials = ListenCredentials(request.headers)
        let client = ListenClientProfile(request)
        guard let upgrade = WebSocketUpgrade(request) else {
            _ = try await authentication.principal(credentials, allowsGrantedTokens: endpoint == .stream)
            throw ListenError.upgradeRequired
        }
        let id = runtime.identifiers.uuid(.transcription)
        let headers: HTTPFields = [.dgRequestID: id]
        let principal: Principal
        do {
            principal = try await authentication.principal(credentials, allowsGrantedTokens: endpoint == .stream)
        } catch HTTPProblem.unauthenticated
            where credentials.isSubprotocol && !client.seesRefusals
        {
            // Browsers and phones cannot read the answer to a refused upgrade; they can read a close code.
            return sockets.refusal(
                WebSocketClosure(1008, "401 INVALID_AUTH: Invalid credentials."), of: upgrade,
                subprotocol: credentials.agreed, headers: headers, request, context)
        }
        let query = try ListenQuery(
            request.query, at: endpoint, of: client, speaksSubQ: settings.speaksSubQ, models: settings.models)
        context.note(query.warnings.map(\.ignored))
        let callback = try ListenCallback(request.query, isStream: true, request: id, key: credentials.key)
        if let callback {
            try await runtime.outbound.check(
                callback.address, within: ListenCallback.patience, for: principal.business)
        }
        let recording = try await recording(in: request, query, principal)
        return sockets.response(
            to: upgrade, in: try sockets.enter(principal, context), subprotocol: credentials.agreed, headers: headers,
            request, context
        ) { session, messages in
            if let recording { session.atEnd { try? await recording.breakOff() } }
            return try await ListenSession(
                engine: engine, query: query, request: id, clock: runtime.clock, settings: settings,
                tenant: principal.business.rawValue,
                recording: recording, socket: session.socket,
                callback: callback.map {
                    StreamCallback(callback: $0, request: id, runtime: runtime, business: principal.business)
                }, logger: context.logger
            ).serve(messages, session.idle)
        }
    }

    /// The transaction that the stream records; nil without `txn_id`, our own parameter that no SDK sends.
    private func recording(
        in request: Request, _ query: ListenQuery, _ principal: Principal
    ) async throws -> LiveRecording? {
        guard let text = request.query["txn_id"].map(String.init) else { return nil }
        guard TransactionID.isValid(text) else {
            throw ScribeError.invalidRequest(field: "txn_id", problem: "is not a transaction id")
        }
        do {
            return try await runtime.liveRecordings.open(TransactionID(text), query.options, for: principal)
        } catch ScribeError.transactionNotFound {
            throw ScribeError.invalidRequest(field: "txn_id", problem: "names no transaction that was started")
        } catch ScribeError.invalidState(let reason) {
            throw ScribeError.invalidRequest(field: "txn_id", problem: "cannot be used: \(reason)")
        }
    }
}
