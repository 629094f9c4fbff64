import Basics
import Engines
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/__admin/fixtures`: puts, lists and removes fixtures of a namespace while the server runs.
struct FixtureRoutes: Sendable {
    let fixtures: FixtureBehaviour

    static func add(to router: WorldRoutes<Self>) {
        router.get("fixtures", use: list)
        router.delete("fixtures", use: removeAll)
        router.get("fixtures/{name}", use: read)
        router.put("fixtures/{name}", use: put)
        router.delete("fixtures/{name}", use: remove)
    }

    private var own: WorldFixtures {
        get throws {
            guard let own = fixtures.own else { throw ControlError.notFound("such fixture") }
            return own
        }
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let all = try own.all
        return try await .longJSON(
            .ok, ["fixtures": .array(all, \.json), "max": .integer(WorldFixtures.limit)])
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let fixture = try own[try Self.name(context)] else { throw ControlError.notFound("such fixture") }
        return try await .longJSON(.ok, fixture.json)
    }

    @Sendable private func put(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let name = try Self.name(context)
        guard
            let body = try await request.decodeOptionalJSON(as: JSONValue.self, in: context)
        else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be a JSON object")
        }
        // A megabyte of texts is checked character by character.
        let fixture = try await EventLoopOffload.run(bytes: .max) { try FixtureBody(body, named: name).fixture }
        guard fixtures.hasTexts || fixture.refuses != nil else {
            throw ScribeError.invalidState(
                "With a real transcriber fixtures only refuse steps: start with --transcriber fake")
        }
        try own.put(fixture, named: name)
        return try await .longJSON(.ok, fixture.json)
    }

    @Sendable private func remove(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard try own.remove(Self.name(context)) else { throw ControlError.notFound("such fixture") }
        return Response(status: .noContent)
    }

    @Sendable private func removeAll(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try own.removeAll()
        return Response(status: .noContent)
    }

    private static func name(_ context: ScribeContext) throws -> String {
        let name = try context.parameters.require("name")
        let text = PercentEncoding.decode(name) ?? name
        guard (1...64).contains(text.utf8.count), text.isPlain, !text.hasPrefix("fixture:") else {
            throw ScribeError.invalidRequest(
                field: "name", problem: "must be 1 to 64 bytes, without the prefix fixture:")
        }
        return text
    }
}
