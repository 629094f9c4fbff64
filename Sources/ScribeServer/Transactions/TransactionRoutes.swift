import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// `/voice/api/v2/transaction`: init, stop and commit (eka-v2.md 2.1 to 2.3).
struct TransactionRoutes: Sendable {
    let store: Store
    let templates: TemplateCatalogue
    let signals: ChangeSignals
    let bell: JobBell
    let identifiers: IdentifierSource
    let clock: ScribeClock

    func add(to router: RouterGroup<ScribeContext>) {
        router.group("voice/api/v2/transaction")
            .post("init/{txn_id}", use: initialise)
            .post("stop/{txn_id}", use: stop)
            .post("commit/{txn_id}", use: commit)
    }

    private struct Acknowledgement: Encodable {
        let status = "success"
        let message: String
        let transaction: String
        let business: String
        var doctor: String?
        var user: String?

        enum CodingKeys: String, CodingKey {
            case status, message
            case transaction = "txn_id"
            case business = "b_id"
            case doctor = "oid"
            case user = "uuid"
        }
    }

    @Sendable private func initialise(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let principal = try context.requirePrincipal()
        let body: InitBody = try await request.decodeJSON()
        let wanted = try body.validated(flavour: request.headers[.flavour] ?? "")
        let transaction = Transaction(id: key.id, owner: principal, request: wanted, createdAt: clock.now)
        let outcome = try await store.initialise(
            transaction, documents: templates.documents(for: wanted, identifiers: identifiers)
        )
        let answer = Acknowledgement(
            message: "Transaction initialized successfully", transaction: key.id.rawValue,
            business: key.business.rawValue, doctor: principal.doctor.rawValue, user: principal.user.rawValue
        )
        switch outcome {
        case .created: return try .json(.created, answer)
        case .replayed: return try .json(.ok, answer)
        }
    }

    @Sendable private func stop(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let list = try await request.decodeJSON(as: ChunkListBody.self).list
        let effect = try await store.update(key, at: clock.now) { (transaction) throws(ScribeError) in
            try transaction.stop(list)
        }
        return try acknowledge(key, effect, "Transaction stopped successfully")
    }

    @Sendable private func commit(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let list = try await request.decodeJSON(as: ChunkListBody.self).list
        let effect = try await store.commit(key, list, at: clock.now)
        return try acknowledge(key, effect, "Transaction committed successfully")
    }

    private func acknowledge(
        _ key: Transaction.Key, _ effect: Transaction.Effect, _ message: String
    ) throws -> Response {
        switch effect {
        case .none: break
        case .stored: signals.post(key)
        case .process:
            signals.post(key)
            bell.ring()
        }
        return try .json(
            .ok,
            Acknowledgement(message: message, transaction: key.id.rawValue, business: key.business.rawValue)
        )
    }
}
