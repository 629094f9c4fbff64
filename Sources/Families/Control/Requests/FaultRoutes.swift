import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/faults`: adds, lists, changes and removes fault rules of a namespace.
struct FaultRoutes: Sendable {
    let world: World
    /// Operations without a path of their own, such as those of S3.
    let otherOperations: [String]

    static func add(to router: WorldRoutes<Self>) {
        router.get("faults", use: list)
        router.post("faults", use: add)
        router.delete("faults", use: removeAll)
        router.post("faults/next", use: addNext)
        router.patch("faults/{id}", use: change)
        router.delete("faults/{id}", use: remove)
        router.get("operations", use: listOperations)
    }

    private static func id(_ context: ScribeContext) throws -> String {
        let text = try context.parameters.require("id")
        return PercentEncoding.decode(text) ?? text
    }

    private var rules: FaultRules { world.runtime.faults }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let entries = rules.entries
        return try await .longJSON(
            .ok, ["faults": .array(entries, \.json), "max": .integer(FaultRules.limit)])
    }

    @Sendable private func add(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await add(try await members(of: request, context), usualTimes: nil)
    }

    /// Adds a rule that applies once, unless it says how often.
    @Sendable private func addNext(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let members = try await members(of: request, context)
        return try await add(members, usualTimes: members["nth"] == nil ? 1 : nil)
    }

    private func members(of request: Request, _ context: ScribeContext) async throws -> [String: JSONValue] {
        guard case .object(let members)? = try await request.decodeOptionalJSON(as: JSONValue.self, in: context) else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be a JSON object")
        }
        return members
    }

    private func add(_ members: [String: JSONValue], usualTimes: Int?) async throws -> Response {
        let reader = FaultRuleReader(
            operations: .documented, others: otherOperations,
            events: world.runtime.store.vocabularies.names)
        var (rule, id) = try reader.rule(of: members)
        rule.times = rule.times ?? usualTimes
        try requireClient(rule.match.client)
        let entry = try rules.add(rule, named: id)
        return try await .longJSON(.created, entry.json)
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a client that cannot ask.
    private func requireClient(_ client: String?) throws(ScribeError) {
        let clients = world.authenticator.clients
        guard let client, clients.admitted(ClientID(client), in: world.authenticator.mode) == nil else { return }
        throw .invalidRequest(
            field: "client", problem: ScribeError.noSuch("client", client, among: clients.ids.map(\.rawValue)))
    }

    @Sendable private func removeAll(_ request: Request, _ context: ScribeContext) async throws -> Response {
        rules.removeAll()
        return Response(status: .noContent)
    }

    @Sendable private func change(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["is_on", "times"], context: context)
        let isOn = body.has("is_on") ? try body.flag("is_on") : nil
        let entry = try rules.change(try Self.id(context), isOn: isOn, times: try body.integer("times", from: 1))
        return try await .longJSON(.ok, entry.json)
    }

    @Sendable private func remove(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try rules.remove(try Self.id(context))
        return Response(status: .noContent)
    }

    /// Names of all operations, for rules and for the completion of editors.
    @Sendable private func listOperations(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let index = OperationIndex.documented
        let others = otherOperations + [FaultPlace.recognition, .note, .webhook].map(\.rawValue)
        return try await .longJSON(
            .ok,
            [
                "operations": .array(index.ids.compactMap { index[$0] }) { operation in
                    [
                        "id": .string(operation.id), "method": .string(operation.method.rawValue),
                        "path": .string(operation.path),
                    ]
                },
                "others": .array(others) { .string($0) },
            ])
    }
}

extension FaultRules.Entry {
    fileprivate var json: JSON {
        (["id": .string(rule.id)] as JSON).adding(rule.json).adding([
            "is_on": .bool(isOn), "matched": .integer(matched), "applied": .integer(applied),
        ])
    }
}
