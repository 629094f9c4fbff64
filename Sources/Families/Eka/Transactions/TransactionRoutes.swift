import Basics
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/api/v2/transaction`: init, stop and commit (eka.md 2.1 to 2.3), and the transaction by its id (2.7).
struct TransactionRoutes: Sendable {
    let runtime: Runtime
    /// Whether init follows the vendor's documentation, not its SDKs.
    let isStrict: Bool
    let unknown: UnknownOptionLog

    static func add(to router: WorldRoutes<Self>, stops: WorldRoutes<Self>) {
        stops.group("voice/api/v2/transaction")
            .post("stop/{txn_id}", use: stop)
            .post("commit/{txn_id}", use: commit)
        router.group("voice/api/v2/transaction")
            .post("init/{txn_id}", use: initialise)
            .get("{txn_id}", use: read)
            .patch("{txn_id}", use: patch)
            .delete("{txn_id}", use: archive)
    }

    @Sendable private func initialise(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let principal = try context.requirePrincipal()
        let body: InitBody = try await request.decodeJSON(in: context)
        let text = { (name: HTTPField.Name) in request.headers[name].map { String($0.prefix(100)) } }
        var wanted = try body.validated(flavour: text(.flavour) ?? "", isStrict: isStrict)
        // Older iOS SDKs send the version in a header (eka.md 1.2).
        wanted.version = wanted.version ?? text(.version)
        if let field = body.fieldWithoutAudio {
            context.note(ignored: field, because: "is no s3://bucket/folder: no audio can be found there")
        }
        unknown.logUnknown(of: wanted, by: principal.client, context.logger)
        if let template = try await runtime.transactions.unknownTemplate(
            among: wanted.templates.map(\.id), of: key.business)
        {
            unknown.logUnknown(template, by: principal.client, context)
        }
        let outcome = try await runtime.transactions.start(
            key.id, wanted, for: principal, replays: !isStrict)
        // SDKs read the ids of clinician and user from the answer to init alone.
        let owner: JSON = ["oid": .string(principal.doctor.rawValue), "uuid": .string(principal.user.rawValue)]
        let answer = JSON.success("Transaction initialized successfully", key, with: owner)
        switch outcome {
        case .created: return .json(.created, answer)
        case .replayed: return .json(.ok, answer)
        }
    }

    @Sendable private func stop(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let list = try await request.decodeJSON(as: ChunkListBody.self, in: context).list
        try await runtime.transactions.stop(key, list)
        return .json(.ok, .success("Transaction stopped successfully", key))
    }

    @Sendable private func commit(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let list = try await request.decodeJSON(as: ChunkListBody.self, in: context).list
        try await runtime.transactions.commit(key, list)
        return .json(.ok, .success("Transaction committed successfully", key))
    }
}
