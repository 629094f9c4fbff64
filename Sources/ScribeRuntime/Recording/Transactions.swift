import Engines
package import ScribeDomain
package import ScribeStore

/// Use cases of transactions, for every API family. Each is one domain decision and one SQL transaction. The store
/// notifies requests that wait for a change.
package struct Transactions: Sendable {
    let store: Store
    let templates: TemplateCatalogue
    let fixtureBehaviour: FixtureBehaviour
    let signals: ChangeSignals
    let identifiers: WorldIdentifiers
    let clock: WorldClock

    package init(
        store: Store, templates: TemplateCatalogue, fixtureBehaviour: FixtureBehaviour, signals: ChangeSignals,
        identifiers: WorldIdentifiers, clock: WorldClock
    ) {
        self.store = store
        self.templates = templates
        self.fixtureBehaviour = fixtureBehaviour
        self.signals = signals
        self.identifiers = identifiers
        self.clock = clock
    }

    /// Starts a transaction. If its files were uploaded before, it needs neither stop nor commit.
    /// - Parameter replays: Whether a repeated request gets the answer of the first one.
    /// - Throws: ``ScribeError/transactionLimitExceeded``, ``ScribeError/transactionAlreadyInitialized``,
    ///   ``ScribeError/refusedOnPurpose``, ``ScribeError/invalidRequest(field:problem:)``.
    package func start(
        _ id: TransactionID, _ request: TransactionRequest, for principal: Principal, replays: Bool = true
    ) async throws -> Initialisation {
        let new = try await new(id, request, for: principal)
        return try await store.transactions.initialise(new.transaction, documents: new.documents, replays: replays)
    }

    /// Makes a new transaction with its unwritten documents, without storing it.
    /// - Parameter seeded: Templates that are stored together with the transaction.
    /// - Throws: ``ScribeError/refusedOnPurpose``.
    func new(
        _ id: TransactionID, _ request: TransactionRequest, for principal: Principal, seeded: [CustomTemplate] = []
    ) async throws -> (transaction: Transaction, documents: [ResultDocument]) {
        var request = request
        let key = Transaction.Key(business: principal.business, id: id)
        // A repeated start must not use a fixture up.
        if request.fixture == nil, fixtureBehaviour.assigns, try await store.transactions.transaction(key) == nil {
            request.assignedFixture = fixtureBehaviour.assigned(to: principal.client)
        }
        try fixtureBehaviour.requirePermission(.initialise, request.fixture)
        var transaction = Transaction(id: id, owner: principal, request: request, createdAt: clock.now)
        transaction.commitAtInit()
        let custom = try await customTemplates(among: request.templates, of: principal.business) + seeded
        return (transaction, templates.documents(for: request, custom: custom, identifiers: identifiers))
    }

    /// Stops the recording. Repeatable.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/transactionCancelled``,
    ///   ``ScribeError/refusedOnPurpose``.
    package func stop(_ key: Transaction.Key, _ list: ChunkList) async throws {
        let (now, policies) = (clock.now, store.policies)
        try await store.transactions.update(key, at: now) { [fixtureBehaviour] (transaction) throws(ScribeError) in
            try transaction.requireTime(at: now, lifetime: policies[transaction.request.kind].lifetime)
            try fixtureBehaviour.requirePermission(.stop, transaction.request.fixture)
            return try transaction.stop(list)
        }
    }

    /// Commits a transaction: all audio is uploaded, and processing begins. Repeatable.
    /// - Throws: As ``stop(_:_:)``.
    package func commit(_ key: Transaction.Key, _ list: ChunkList) async throws {
        try await store.transactions.commit(
            key, list, at: clock.now, refusing: fixtureBehaviour.fixtures(refusing: .commit))
    }

    /// Cancels a transaction, or changes details of its start.
    /// - Parameters:
    ///   - archiver: The user who also deletes the transaction in the same request; nil for none.
    ///   - documents: The documents that replace its present ones while it is open; nil to keep them.
    /// - Throws: ``ScribeError/transactionNotFound``, and as ``archive(_:by:)``.
    package func patch(
        _ key: Transaction.Key, _ patch: TransactionPatch, archivedBy archiver: UserID? = nil,
        documents: [ResultDocument]? = nil
    ) async throws -> Transaction {
        let (now, policies) = (clock.now, store.policies)
        return try await store.transactions.update(key, at: now, documents: documents) {
            (transaction) throws(ScribeError) in
            try transaction.requireTime(at: now, lifetime: policies[transaction.request.kind].lifetime)
            let effect = transaction.apply(patch, at: now)
            return try archiver.map { user throws(ScribeError) in try transaction.archive(by: user, at: now) } ?? effect
        }
    }

    /// Hides a transaction from its user. Its data stays, and its id stays taken.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/invalidState(_:)`` for any other user.
    package func archive(_ key: Transaction.Key, by user: UserID) async throws {
        let now = clock.now
        try await store.transactions.update(key, at: now) { (transaction) throws(ScribeError) in
            try transaction.archive(by: user, at: now)
        }
    }

    /// Replaces results with a user's edits. It keeps all edits or none.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/resultNotFound``,
    ///   ``ScribeError/invalidRequest(field:problem:)`` for too many edits.
    package func edit(_ key: Transaction.Key, _ edits: [ResultEdit]) async throws {
        try Limits.require(edits.count, atMost: Limits.edits, "the body")
        try await store.documents.edit(key, edits, at: clock.now)
    }

    /// The business's own templates. They are read only if the server lacks one of the requested templates.
    private func customTemplates(
        among requested: [TransactionRequest.RequestedTemplate], of business: BusinessID
    ) async throws -> [CustomTemplate] {
        guard requested.contains(where: { templates[$0.id] == nil }) else { return [] }
        return try await store.templates.all(of: business)
    }
}
