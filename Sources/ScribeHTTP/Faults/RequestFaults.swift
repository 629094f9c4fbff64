import Basics
package import Connections
import Foundation
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore
import ScribeDomain
import ScribeRuntime

/// Settings of faults, which all worlds share.
package struct FaultSettings: Sendable {
    /// Whether the header `X-Scribe-Fault` is read.
    package let readsHeader: Bool
    /// Places of the requests that a fault holds. Other clients need the rest of the connections.
    let held: Places

    package init(
        readsHeader: Bool = false, held: Places = Places(limit: 1000)
    ) {
        self.readsHeader = readsHeader
        self.held = held
    }
}

/// Applies the fault rules of a world to one request: before its handler runs, or to its answer.
struct RequestFaults: Sendable {
    typealias Next = (Request, ScribeContext) async throws -> Response

    /// Name that logs and answers give a fault of the request's own header.
    private static let headerName = "header"

    let world: World
    let family: any Family
    let settings: FaultSettings

    var rules: FaultRules { world.runtime.faults }
    private var clock: WorldClock { world.runtime.clock }

    func respond(to request: Request, _ context: ScribeContext, next: Next) async throws -> Response {
        let header = settings.readsHeader ? request.headers.value(of: .scribeFault) : nil
        let needs = rules.needs
        context.rulesVersion = needs.version
        guard !needs.isEmpty || header != nil else { return try await next(request, context) }
        guard context.usesNamespaces else { return try await next(request, context) }
        let found: FaultRules.Applied?
        var socket: FaultRules.Applied?
        do {
            if let header {
                let own = try ofHeader(header, request.headers.wantsWebSocket)
                let isOfSocket = own.rule.effect.place == .socket
                found = isOfSocket ? nil : own
                if isOfSocket, request.headers.wantsWebSocket { socket = own }
            } else {
                let principal = needs.identity ? await family.principal(of: request, in: world) : nil
                let facts = facts(of: request, context, principal)
                found = rules.applied(to: facts, at: clock.wall.now)
                if request.headers.wantsWebSocket, found?.letsPass ?? true {
                    var facts = facts
                    facts.place = .socket
                    socket = rules.applied(to: facts, at: clock.wall.now)
                }
            }
        } catch {
            return try await family.response(to: error, of: request, context)
        }
        if request.headers.wantsWebSocket {
            context.socketFault = socket.map { .init(applied: $0, isRule: header == nil) }
        }
        let applied = [found, socket].compactMap(\.self)
        for fault in applied {
            context.logger.notice("a fault is applied", metadata: ["fault": "\(fault.rule.id)"])
        }
        if case .request? = found?.rule.effect { context.coreContext.endpointPath.value = "fault" }
        let names = applied.map(\.rule.id).joined(separator: ", ")
        // Noted before its effect: a connection that is reset has no answer.
        if !applied.isEmpty { note(names, of: request, in: context.record) }
        var response: Response
        do {
            if let found {
                if let instead = try await before(found, request, context) {
                    response = instead
                } else {
                    response = try await after(found, next(request, context), request, context)
                }
            } else {
                response = try await next(request, context)
            }
        } catch let problem as HTTPProblem {
            response = try await family.response(to: problem, of: request, context)
        }
        if !applied.isEmpty {
            response.headers[.scribeFaultApplied] = names
            context.record?.note(fault: names)
        }
        return response
    }

    /// Applies the effects that come before the handler.
    /// - Returns: the answer in place of the handler's; nil to go on.
    func before(
        _ applied: FaultRules.Applied, _ request: Request, _ context: ScribeContext
    ) async throws -> Response? {
        guard case .request(let fault, .before) = applied.rule.effect else { return nil }
        try await pass(applied, context)
        switch fault {
        case .delay: return nil
        case .answer(let answer): return try await self.answer(answer, request, context)
        case .limit(_, let answer):
            var answer = answer
            answer.status = answer.status ?? 429
            answer.retryAfter = answer.retryAfter ?? applied.wait
            return try await self.answer(answer, request, context)
        case .connection(let fault): return try await broken(fault, nil, context)
        }
    }

    /// Applies the effects on the handler's answer.
    func after(
        _ applied: FaultRules.Applied, _ usual: Response, _ request: Request, _ context: ScribeContext
    ) async throws -> Response {
        guard case .request(let fault, .after) = applied.rule.effect, usual.status != .switchingProtocols else {
            return usual
        }
        try await pass(applied, context)
        switch fault {
        case .delay, .limit: return usual
        case .answer(let answer): return try await self.answer(answer, request, context)
        case .connection(let fault): return try await broken(fault, usual, context)
        }
    }

    private func note(_ names: String, of request: Request, in record: JournalRecord?) {
        guard let record else { return }
        record.note(fault: names)
        guard !record.mode.isFull else { return }
        // Without a path, nothing else tells the operation of a request that reaches no route.
        let operation = OperationIndex.documented.operation(of: request.method, request.uri.path)
        record.update {
            $0.operation = $0.operation ?? operation
            return 0
        }
    }

    // MARK: Facts about a request

    func facts(of request: Request, _ context: ScribeContext, _ principal: Principal?) -> FaultFacts {
        let operation = rules.needs.operation ? family.operation(of: request, context) : nil
        return FaultFacts(request, context, operation: operation, principal, rules.needs)
    }

    /// The fault of a request's own header.
    /// - Throws: ``FaultRefusal``, which every family can render.
    private func ofHeader(_ text: String, _ opensSocket: Bool) throws(FaultRefusal) -> FaultRules.Applied {
        let rule: FaultRule
        do {
            rule = try FaultRuleReader(operations: OperationIndex([]))
                .rule(ofHeader: text, named: Self.headerName, opensSocket: opensSocket)
        } catch {
            var answer = FaultAnswer()
            answer.status = 400
            if case .invalidRequest(let field, let problem) = error {
                answer.message = "X-Scribe-Fault: \(field.map { "'\($0)' " } ?? "")\(problem)"
            }
            throw FaultRefusal(answer)
        }
        var generator = SeededGenerator(random: world.runtime.identifiers.random)
        return FaultRules.Applied(rule: rule, delay: rule.delay?.drawn(using: &generator) ?? .zero, wait: nil)
    }

    // MARK: Effects

    /// Lets the rule's delay pass, unless the client leaves.
    private func pass(_ applied: FaultRules.Applied, _ context: ScribeContext) async throws {
        guard applied.delay > .zero else { return }
        try await wait(for: applied.delay, byWorldClock: applied.rule.isByWorldClock, context)
    }

    /// Waits for a time, or until the world ends: a request has to end soon after a reset.
    /// - Throws: `CancellationError` if the client leaves or the server stops, ``HTTPProblem/busy(retryAfter:)`` if too
    ///   many requests wait.
    private func wait(for duration: Duration, byWorldClock: Bool, _ context: ScribeContext) async throws {
        guard settings.held.take() else { throw HTTPProblem.busy(retryAfter: 1) }
        defer { settings.held.give() }
        try await world.end.shortening { [clock] in
            try await context.cancellingOnDisconnect {
                if byWorldClock {
                    try await clock.sleep(for: duration, as: .fault)
                } else {
                    try await clock.wall.sleep(for: duration, as: .fault)
                }
            }
        }
    }

    private func answer(
        _ answer: FaultAnswer, _ request: Request, _ context: ScribeContext
    ) async throws -> Response {
        guard let body = answer.body else {
            return try await family.response(to: FaultRefusal(answer), of: request, context)
        }
        var response = Response(
            status: .init(code: answer.status ?? 200), headers: [.contentType: body.type],
            body: ResponseBody(byteBuffer: ByteBuffer(string: body.text)))
        if let seconds = answer.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    private func broken(
        _ fault: FaultConnection, _ usual: Response?, _ context: ScribeContext
    ) async throws -> Response {
        switch (fault, usual) {
        case (.half, var usual?):
            context.record?.stream()
            usual.body = usual.body.half()
            return usual
        case (.dribble(let rate), var usual?):
            context.record?.stream()
            usual.body = usual.body.slow(rate, clock.wall)
            return usual
        case (.hang, _):
            try? await wait(for: .seconds(86_400 * 365), byWorldClock: false, context)
            await context.connection.reset()
            throw CancellationError()
        case (.reset, _), (.half, nil), (.dribble, nil):
            await context.connection.reset()
            throw CancellationError()
        }
    }
}

extension FaultFacts {
    /// - Parameter operation: an operation that the path does not tell; nil for one that it tells.
    init(
        _ request: Request, _ context: ScribeContext, operation: String? = nil, _ principal: Principal?,
        _ needs: FaultRules.Needs
    ) {
        self.init(at: .request)
        method = request.method.rawValue
        path = request.uri.path
        opensSocket = request.headers.wantsWebSocket
        if needs.operation {
            self.operation = operation ?? OperationIndex.documented.operation(of: request.method, path)
        }
        source = context.address
        if let principal {
            (business, client) = (principal.business.rawValue, principal.client.rawValue)
            source = "client \(principal.client.rawValue)"
        }
        transactions =
            path[...].split(ascii: "/").map { PercentEncoding.decode(String($0)) ?? String($0) }
            + ["session_id", "txn_id", "txnid"].compactMap { request.query.text($0) }
        hasBody = request.mayHaveBody(isStream: context.connection.isStream)
        // Without the body, since facts about a socket stay until its end.
        let request = Request(head: request.head, body: RequestBody(buffer: ByteBuffer()))
        values = { place, name in
            switch place {
            case .header: request.values(of: name)
            case .query: request.values(ofParameter: name)
            }
        }
    }
}

extension FaultRules.Applied {
    /// Whether the request's handler runs.
    fileprivate var letsPass: Bool {
        guard case .request(let fault, .before) = rule.effect else { return true }
        return fault == .delay
    }
}
