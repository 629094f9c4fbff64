import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ScribeDomain
import ScribeRuntime

/// Settings of faults, which all worlds share.
package struct FaultSettings: Sendable {
    package let operations: OperationCatalogue
    /// Whether the header `X-Scribe-Fault` is read.
    package let readsHeader: Bool

    package init(
        operations: OperationCatalogue = OperationCatalogue { OperationIndex([]) }, readsHeader: Bool = false
    ) {
        self.operations = operations
        self.readsHeader = readsHeader
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

    private var rules: FaultRules { world.runtime.faults }
    private var clock: WorldClock { world.runtime.clock }

    func respond(to request: Request, _ context: ScribeContext, next: Next) async throws -> Response {
        let header = settings.readsHeader ? request.headers[.scribeFault] : nil
        let needs = rules.needs
        guard !needs.isEmpty || header != nil else { return try await next(request, context) }
        guard family.namespaceUse(of: request) == .all else { return try await next(request, context) }
        var context = context
        let found: FaultRules.Applied?
        var socket: FaultRules.Applied?
        do {
            if let header {
                found = try await ofHeader(header)
                if case .socket? = found?.rule.effect { socket = found }
            } else {
                let facts = await facts(of: request, context, needs)
                found = rules.applied(to: facts, at: clock.wall.now)
                if request.headers.wantsWebSocket {
                    var facts = facts
                    facts.place = .socket
                    socket = rules.applied(to: facts, at: clock.wall.now)
                }
            }
        } catch {
            return family.response(to: error, of: request, context)
        }
        if let socket, case .socket(let fault) = socket.rule.effect {
            context.socketFaults = SocketFaults(fault, delay: socket.delay, clock: clock, socket.rule)
        }
        let applied = [found, socket].compactMap(\.self)
        for fault in applied {
            context.logger.notice("a fault is applied", metadata: ["fault": "\(fault.rule.id)"])
        }
        if case .request? = found?.rule.effect { context.coreContext.endpointPath.value = "fault" }
        var response = try await answer(to: request, context, found, next)
        if !applied.isEmpty {
            response.headers[.scribeFaultApplied] = applied.map(\.rule.id).removingDuplicates().joined(separator: ", ")
        }
        return response
    }

    private func answer(
        to request: Request, _ context: ScribeContext, _ applied: FaultRules.Applied?, _ next: Next
    ) async throws -> Response {
        guard let applied, case .request(let fault, let moment) = applied.rule.effect else {
            return try await next(request, context)
        }
        switch moment {
        case .before:
            try await pass(applied, context)
            switch fault {
            case .delay: return try await next(request, context)
            case .answer(let answer): return self.answer(answer, request, context)
            case .limit(_, let answer):
                var answer = answer
                answer.status = answer.status ?? 429
                answer.retryAfter = answer.retryAfter ?? applied.wait
                return self.answer(answer, request, context)
            case .connection(let fault): return try await broken(fault, nil, context)
            }
        case .after:
            let usual = try await next(request, context)
            guard usual.status != .switchingProtocols else { return usual }
            try await pass(applied, context)
            switch fault {
            case .delay, .limit: return usual
            case .answer(let answer): return self.answer(answer, request, context)
            case .connection(let fault): return try await broken(fault, usual, context)
            }
        }
    }

    // MARK: What is known of a request

    private func facts(
        of request: Request, _ context: ScribeContext, _ needs: FaultRules.Needs
    ) async -> FaultFacts {
        var facts = FaultFacts(at: .request)
        facts.method = request.method.rawValue
        facts.path = request.uri.path
        if needs.operation {
            facts.operation =
                family.operation(of: request) ?? settings.operations.loaded?.operation(of: request.method, facts.path)
        }
        facts.source = context.address
        if needs.identity, let principal = await family.principal(of: request, in: world) {
            (facts.business, facts.client) = (principal.business.rawValue, principal.client.rawValue)
            facts.source = "client \(principal.client.rawValue)"
        }
        facts.transactions =
            facts.path[...].split(ascii: "/").map { PercentEncoding.decode(String($0)) ?? String($0) }
            + ["session_id", "txn_id", "txnid"].compactMap { request.query.text($0) }
        facts.header = { [headers = request.headers] name in
            HTTPField.Name(name).flatMap { name in
                let values = headers[values: name]
                return values.isEmpty ? nil : values.joined(separator: ", ")
            }
        }
        return facts
    }

    /// The fault of a request's own header.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    private func ofHeader(_ text: String) async throws -> FaultRules.Applied {
        let reader = FaultRuleReader(operations: OperationIndex([]))
        let rule = try reader.rule(ofHeader: text, named: Self.headerName)
        var generator = SeededGenerator(random: world.runtime.identifiers.random)
        return FaultRules.Applied(rule: rule, delay: rule.delay?.drawn(using: &generator) ?? .zero, wait: nil)
    }

    // MARK: Effects

    /// Lets the rule's delay pass, unless the client leaves.
    private func pass(_ applied: FaultRules.Applied, _ context: ScribeContext) async throws {
        guard applied.delay > .zero else { return }
        try await wait(for: applied.delay, byWorldClock: applied.rule.isByWorldClock, context)
    }

    private func wait(for duration: Duration, byWorldClock: Bool, _ context: ScribeContext) async throws {
        try await context.cancellingOnDisconnect { [clock] in
            if byWorldClock {
                try await clock.sleep(for: duration, as: .fault)
            } else {
                try await clock.wall.sleep(for: duration, as: .fault)
            }
        }
    }

    private func answer(_ answer: FaultAnswer, _ request: Request, _ context: ScribeContext) -> Response {
        guard let body = answer.body else {
            return family.response(to: FaultRefusal(answer), of: request, context)
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
            usual.body = usual.body.half()
            return usual
        case (.dribble(let rate), var usual?):
            usual.body = usual.body.slow(rate, clock.wall)
            return usual
        case (.hang, _):
            // Until the client leaves, the world ends or the server stops.
            let waiting = Task { try await wait(for: .seconds(86_400 * 365), byWorldClock: false, context) }
            await world.end.watched(by: { waiting.cancel() }) { _ = await waiting.result }
            await context.connection.reset()
            throw CancellationError()
        case (.reset, _), (.half, nil), (.dribble, nil):
            await context.connection.reset()
            throw CancellationError()
        }
    }
}
