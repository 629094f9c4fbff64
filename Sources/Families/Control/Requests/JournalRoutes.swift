import Basics
import HTTPTypes
import Hummingbird
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/__admin/requests`: finds, counts, verifies and exports the exchanges of a namespace's journal.
struct JournalRoutes: Sendable {
    let world: World
    /// Operations without a path of their own, such as those of S3.
    let otherOperations: [String]
    /// Names of the emulated APIs.
    let families: [String]
    let events: JournalEvents
    let version: String

    /// Most exchanges of a list, and most with their bodies.
    private static let maxListed = 1000
    private static let maxFound = 100
    private static let defaultWait: Duration = .seconds(10)
    private static let longestWait: Duration = .seconds(600)

    static func add(to router: WorldRoutes<Self>) {
        router.get("requests", use: whileAwaited(list))
        router.delete("requests", use: removeAll)
        router.get("requests/unmatched", use: whileAwaited(listUnmatched))
        router.get("requests/stream", use: stream)
        router.get("requests/export", use: export)
        router.get("requests/wait", use: whileAwaited(wait))
        router.post("requests/wait", use: whileAwaited(wait))
        router.post("requests/find", use: whileAwaited(find))
        router.post("requests/count", use: whileAwaited(count))
        router.post("requests/verify", use: whileAwaited(verify))
        router.get("requests/{number}", use: read)
        router.get("requests/{number}/recording", use: record)
    }

    /// Wraps a handler so that its search of the journal ends when its client leaves.
    private static func whileAwaited(_ method: @escaping WorldRoutes<Self>.Method) -> WorldRoutes<Self>.Method {
        { routes in
            { request, context in
                try await context.cancellingOnDisconnect { try await method(routes)(request, context) }
            }
        }
    }

    private var journal: Journal {
        get throws {
            guard let journal = world.runtime.journal else { throw JournalProblem.off }
            return journal
        }
    }

    private var index: JournalIndex { .documented }

    private func reader(of journal: Journal) -> JournalMatchReader {
        JournalMatchReader(
            operations: index.operations, others: otherOperations, families: families, mode: journal.settings.mode)
    }

    /// Conditions of a call: the parameters of a query, or the members of a body.
    private func members(of request: Request, _ context: ScribeContext) async throws -> [String: JSONValue] {
        guard request.method == .post else {
            var members: [String: JSONValue] = [:]
            for (name, value) in request.query where name != "namespace" {
                let value = JSONValue.string(String(value))
                switch members[String(name)] {
                case nil: members[String(name)] = value
                case .array(let values)?: members[String(name)] = .array(values + [value])
                case let first?: members[String(name)] = .array([first, value])
                }
            }
            return members
        }
        guard let body = try await request.decodeOptionalJSON(as: JSONValue.self, in: context) else { return [:] }
        guard case .object(let members) = body else {
            throw ScribeError.invalidRequest(field: nil, problem: "must be a JSON object")
        }
        return members
    }

    // MARK: Reading

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var members = try await members(of: request, context)
        let limit = try Self.limit(&members, usual: 100, most: Self.maxListed)
        return try await list(members, limit)
    }

    @Sendable private func listUnmatched(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var members = try await members(of: request, context)
        let limit = try Self.limit(&members, usual: 100, most: Self.maxListed)
        return try await list(members, limit) { $0.isUnmatched }
    }

    private func list(
        _ members: [String: JSONValue], _ limit: Int,
        _ isMeant: @escaping @Sendable (ShownExchange) -> Bool = { _ in true },
        as json: @escaping @Sendable (ShownExchange) -> JSON = { $0.summary }
    ) async throws -> Response {
        let journal = try journal
        let match = try reader(of: journal).match(members)
        return try await .longJSON(
            .ok,
            (["requests": .array(try match.exchanges(of: journal, index).filter(isMeant).suffix(limit), json)] as JSON)
                .adding(journal.json))
    }

    @Sendable private func find(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var members = try await members(of: request, context)
        let limit = try Self.limit(&members, usual: 20, most: Self.maxFound)
        return try await list(members, limit, as: { $0.detail })
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let shown = try await shown(context)
        return try await .longJSON(.ok, shown.detail)
    }

    private func shown(_ context: ScribeContext) async throws -> ShownExchange {
        guard let number = Int(try context.parameters.require("number")), let entry = try journal[number] else {
            throw ControlError.notFound("such request in the journal")
        }
        return index.shown(number, entry)
    }

    @Sendable private func removeAll(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try journal.removeAll()
        return Response(status: .noContent)
    }

    private static func limit(
        _ members: inout [String: JSONValue], usual: Int, most: Int
    ) throws(ScribeError) -> Int {
        guard let value = members.removeValue(forKey: "limit") else { return usual }
        guard let number = value.scalarText.flatMap({ Int($0) }), (1...most).contains(number) else {
            throw .invalidRequest(field: "limit", problem: "must be a whole number from 1 to \(most)")
        }
        return number
    }

    // MARK: Expectations

    @Sendable private func count(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let members = try await members(of: request, context)
        let journal = try journal
        let match = try reader(of: journal).match(members)
        let count = try await EventLoopOffload.run(bytes: .max) { try match.count(in: journal, index) }
        return try await .longJSON(
            .ok,
            (["count": .integer(count.matched), "unknown": .integer(count.unknown)] as JSON).adding(journal.json))
    }

    @Sendable private func verify(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let members = try await members(of: request, context)
        let journal = try journal
        let verification = try Verification(members, by: reader(of: journal))
        let outcome = try await EventLoopOffload.run(bytes: .max) {
            try verification.outcome(in: journal, index)
        }
        return try await answer(outcome, of: journal, context)
    }

    @Sendable private func wait(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var members = try await members(of: request, context)
        var limit = Self.defaultWait
        if let value = members.removeValue(forKey: "timeout") {
            guard let duration = value.stringValue.flatMap(ClockDuration.init)?.duration, duration <= Self.longestWait
            else {
                throw ScribeError.invalidRequest(
                    field: "timeout", problem: "must be a duration of at most 600s, such as 5s")
            }
            limit = duration
        }
        let journal = try journal
        let verification = try Verification(members, by: reader(of: journal))
        let outcome = try await verification.outcome(in: journal, index, within: limit, world)
        return try await answer(outcome, of: journal, context)
    }

    /// 200 for an expectation that is met, otherwise 422 with the nearest misses.
    private func answer(
        _ outcome: Verification.Outcome, of journal: Journal, _ context: ScribeContext
    ) async throws -> Response {
        let dropped: JSON = ["dropped": .integer(journal.counts.dropped)]
        guard !outcome.isMet else { return try await .longJSON(.ok, outcome.json.adding(dropped)) }
        let problem: JSON = [
            "type": "about:blank", "title": "Unprocessable Content", "status": 422,
            "detail": .string(outcome.sentence), "code": "not_verified", "request_id": .string(context.requestID),
        ]
        var response = try await Response.longJSON(
            .unprocessableContent, problem.adding(outcome.json).adding(dropped))
        response.headers[.contentType] = "application/problem+json"
        return response
    }

    // MARK: Streams and files

    @Sendable private func stream(_ request: Request, _ context: ScribeContext) async throws -> Response {
        var members = try await members(of: request, context)
        let isFromStart = try Self.flag("all", &members)
        let journal = try journal
        let match = try reader(of: journal).match(members)
        return try events.response(of: journal, index, match, after: isFromStart ? 0 : nil, in: world, context)
    }

    static func flag(_ name: String, _ members: inout [String: JSONValue]) throws(ScribeError) -> Bool {
        switch members.removeValue(forKey: name) {
        case nil, .string("false"), .bool(false): return false
        case .string("true"), .string(""), .bool(true): return true
        default: throw .invalidRequest(field: name, problem: "must be true or false")
        }
    }

    @Sendable private func export(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let members = try await members(of: request, context)
        let journal = try journal
        let match = try reader(of: journal).match(members)
        return Response(
            status: .ok, headers: Self.fileHeaders("application/json", "scribe.har"),
            body: HARExport(of: journal, index, match, version: version).body)
    }

    @Sendable private func record(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let shown = try await shown(context)
        let text = try await EventLoopOffload.run(bytes: .max) { try SocketRecording.text(of: shown) }
        return Response(
            status: .ok, headers: Self.fileHeaders(SocketRecording.contentType, "socket.ndjson"),
            body: ResponseBody(byteBuffer: .init(bytes: text)))
    }

    private static func fileHeaders(_ type: String, _ name: String) -> HTTPFields {
        [
            .contentType: type, .contentTypeOptions: "nosniff", .cacheControl: "no-store",
            .contentDisposition: #"attachment; filename="\#(name)""#,
        ]
    }
}

extension Journal {
    fileprivate var json: JSON {
        let counts = counts
        return [
            "mode": .string(settings.mode.rawValue), "entries": .integer(counts.entries),
            "bytes": .integer(counts.bytes), "dropped": .integer(counts.dropped),
            "max": .integer(settings.entries), "max_bytes": .integer(settings.bytes),
        ]
    }
}
