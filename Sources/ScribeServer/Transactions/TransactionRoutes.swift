import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeRuntime
import ScribeStore
import Transcription

/// `/voice/api/v2/transaction`: init, stop and commit (eka-v2.md 2.1 to 2.3), and the transaction itself (2.7).
struct TransactionRoutes: Sendable {
    let store: Store
    let starter: TransactionStarter
    let fixtures: FixtureSet
    let fidelity: Fidelity
    let signals: ChangeSignals
    let bell: JobBell
    let clock: ScribeClock

    func add(to router: RouterGroup<ScribeContext>) {
        router.group("voice/api/v2/transaction")
            .post("init/{txn_id}", use: initialise)
            .post("stop/{txn_id}", use: stop)
            .post("commit/{txn_id}", use: commit)
            .get("{txn_id}", use: read)
            .patch("{txn_id}", use: patch)
            .delete("{txn_id}", use: archive)
    }

    @Sendable private func initialise(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let principal = try context.requirePrincipal()
        let body: InitBody = try await request.decodeJSON(in: context)
        let text = { (name: HTTPField.Name) in request.headers[name].map { String($0.prefix(100)) } }
        var wanted = try body.validated(flavour: text(.flavour) ?? "", fidelity: fidelity)
        // Older iOS clients say it in a header (eka-v2.md 1.2).
        wanted.version = wanted.version ?? text(.version)
        let outcome = try await starter.start(key.id, wanted, for: principal)
        let answer = TransactionAcknowledgement("Transaction initialized successfully", key, owner: principal)
        switch outcome {
        case .created: return try .json(.created, answer)
        case .replayed: return try .json(.ok, answer)
        }
    }

    @Sendable private func stop(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let list = try await request.decodeJSON(as: ChunkListBody.self, in: context).list
        let (_, effect) = try await store.update(key, at: clock.now) { (transaction) throws(ScribeError) in
            try fixtures.permit(.stop, transaction.request.fixture)
            return try transaction.stop(list)
        }
        return try acknowledge(key, effect, "Transaction stopped successfully")
    }

    @Sendable private func commit(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let list = try await request.decodeJSON(as: ChunkListBody.self, in: context).list
        let commit = try await store.commit(key, list, at: clock.now, claimsJob: true) {
            transaction throws(ScribeError) in
            try fixtures.permit(.commit, transaction.request.fixture)
        }
        return try acknowledge(key, commit.effect, "Transaction committed successfully", commit.job)
    }

    /// Tells those who wait for the transaction, and those who work for it.
    func announce(_ effect: Transaction.Effect, _ job: Job? = nil, on key: Transaction.Key) {
        switch effect {
        case .none: break
        case .stored, .ended: signals.post(key)
        case .process:
            signals.post(key)
            if let job { bell.hand(job) } else { bell.ring() }
        }
    }

    private func acknowledge(
        _ key: Transaction.Key, _ effect: Transaction.Effect, _ message: String, _ job: Job? = nil
    ) throws -> Response {
        announce(effect, job, on: key)
        return try .json(.ok, TransactionAcknowledgement(message, key))
    }
}
