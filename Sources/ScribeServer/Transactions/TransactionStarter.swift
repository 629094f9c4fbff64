import ScribeDomain
import ScribeRuntime
import ScribeStore
import Transcription

/// Starts transactions, by whichever route a client asks for one.
struct TransactionStarter: Sendable {
    let store: Store
    let templates: TemplateCatalogue
    let fixtures: FixtureSet
    let fidelity: Fidelity
    let bell: JobBell
    let identifiers: IdentifierSource
    let clock: ScribeClock

    /// - Throws: ``ScribeError/transactionLimitExceeded``, ``ScribeError/transactionAlreadyInitialized``,
    ///   ``ScribeError/refusedByFixture``.
    func start(
        _ id: TransactionID, _ request: TransactionRequest, for principal: Principal
    ) async throws -> Initialisation {
        try fixtures.permit(.initialise, request.fixture)
        var transaction = Transaction(id: id, owner: principal, request: request, createdAt: clock.now)
        transaction.commitAtInit()
        let custom = try await customTemplates(among: request.templates, of: principal.business)
        let outcome = try await store.initialise(
            transaction, documents: templates.documents(for: request, custom: custom, identifiers: identifiers),
            replays: fidelity == .clients
        )
        if transaction.userStatus == .committed { bell.ring() }
        return outcome
    }

    /// The business's own among the requested templates; asked for only when the server has not all of them itself.
    private func customTemplates(
        among requested: [TransactionRequest.RequestedTemplate], of business: BusinessID
    ) async throws -> [CustomTemplate] {
        guard requested.contains(where: { templates[$0.id] == nil }) else { return [] }
        return try await store.templates(of: business)
    }
}
