import Basics
import Hummingbird
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/__admin/namespaces` and `/__admin/reset`: makes, lists, resets and removes namespaces.
struct NamespaceRoutes: Sendable {
    let origin: LinkOrigin

    static func add(to router: WorldRoutes<Self>) {
        router.get("namespaces", use: list)
        router.post("namespaces", use: create)
        router.get("namespaces/{name}", use: read)
        router.delete("namespaces/{name}", use: delete)
        router.post("reset", use: reset)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let control = try Self.control(context)
        let base = origin.base(of: request, context)
        return try await .longJSON(
            .ok,
            ["namespaces": .array(control.list()) { .object($0.members(at: base)) }, "max": .integer(control.limit)])
    }

    @Sendable private func create(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["name", "seed_value"], context: context)
        var name: NamespaceName?
        if let value = body["name"] {
            guard let text = value.stringValue else {
                throw ScribeError.invalidRequest(field: "name", problem: "must be a string")
            }
            guard text != NamespaceName.ofDefaultWorld else { throw NamespaceProblem.exists }
            guard let known = NamespaceName(text) else {
                throw ScribeError.invalidRequest(field: "name", problem: "must be 1 to 63 of a-z, 0-9 and -")
            }
            name = known
        }
        let (record, credentials) = try await Self.control(context).create(
            name, seed: try Self.seed(body["seed_value"]))
        let secrets: [JSON.Member] = [
            ("client_secret", .string(credentials.secret)), ("api_key", .string(credentials.key)),
            ("api_key_hex", .string(credentials.hexKey)),
        ]
        return .json(.created, .object(record.members(at: origin.base(of: request, context)) + secrets))
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let record = try Self.control(context).record(of: try Self.name(context)) else {
            throw NamespaceProblem.unknown
        }
        return .json(.ok, .object(record.members(at: origin.base(of: request, context))))
    }

    @Sendable private func delete(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await Self.control(context).delete(try Self.name(context))
        return Response(status: .noContent)
    }

    @Sendable private func reset(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["only"], context: context)
        let parts = body.has("only") ? try body.choices("only", of: Part.self) : [.data]
        guard !parts.isEmpty else { throw body.problem("only", "must have a part") }
        let (world, name) = (context.world, context.world.namespace)
        var state = world.place.state
        if parts.contains(.data) {
            state = try await Self.control(context).reset(name)
        } else {
            guard !parts.contains(.clock) || world.mayMoveClock else { throw NamespaceProblem.clockOfFolder }
            if parts.contains(.clock) {
                try await ClockUse.alone(with: world) { world.runtime.clock.run(withMachine: true) }
            }
            if parts.contains(.faults) { world.runtime.faults.removeAll() }
            if parts.contains(.fixtures) {
                world.runtime.fixtureBehaviour.own?.removeAll()
                world.playbacks.removeAll()
            }
            if parts.contains(.journal) { world.runtime.journal?.removeAll() }
        }
        return .json(
            .ok,
            ["namespace": .string(name?.rawValue ?? NamespaceName.ofDefaultWorld), "state": .integer(state)])
    }

    /// A number stands for its digits: shells and YAML files have both.
    private static func seed(_ value: JSONValue?) throws -> SeedValue? {
        guard let value else { return nil }
        guard let text = value.stringValue ?? Self.digits(of: value), let seed = SeedValue(text) else {
            throw ScribeError.invalidRequest(field: "seed_value", problem: "must be \(SeedValue.rule)")
        }
        return seed
    }

    private static func digits(of value: JSONValue) -> String? {
        guard case .integer(let number) = value else { return nil }
        return String(number)
    }

    /// Part of a namespace that a reset is about.
    private enum Part: String, CaseIterable {
        /// All rows and audio. The other parts end with them.
        case data
        case faults, fixtures, clock, journal
    }

    private static func control(_ context: ScribeContext) throws -> any NamespaceControl {
        guard let control = context.directory?.control else { throw NamespaceProblem.off }
        return control
    }

    /// - Throws: ``NamespaceProblem/unknown`` for a text that is no name.
    private static func name(_ context: ScribeContext) throws -> NamespaceName {
        guard let name = NamespaceName(try context.parameters.require("name")) else { throw NamespaceProblem.unknown }
        return name
    }
}

extension NamespaceRecord {
    fileprivate func members(at base: String) -> [JSON.Member] {
        [
            ("name", .string(name.rawValue)), ("path", .string(name.path)), ("url", .string(base + name.path)),
            ("created_at", .string(createdAt.apiTime)), ("last_used_at", .string(lastUsedAt.apiTime)),
            ("state", .integer(state)),
        ] + (seed.map { [("seed_value", .string($0.description))] } ?? [])
            + [("client_id", .string(client.rawValue)), ("partner_id", .string(partner))]
    }
}
