import Basics
package import Hummingbird
import Journal
import Logging
package import ScribeDomain
import ScribeRuntime

/// Fault of a request that named its world only in its body, such as an upload form.
package struct LateFault: Sendable {
    fileprivate let faults: RequestFaults
    fileprivate let applied: FaultRules.Applied
    fileprivate let request: Request
    fileprivate let context: ScribeContext

    /// Answer in place of the handler's.
    package struct Instead: Error {
        package let response: Response
    }

    /// Applies the effects that come before the write.
    /// - Throws: ``Instead``, `CancellationError` once the connection has ended.
    package func before() async throws {
        guard let response = try await faults.before(applied, request, context) else { return }
        throw Instead(response: named(response))
    }

    /// Applies the effects on the answer.
    package func after(_ usual: Response) async throws -> Response {
        named(try await faults.after(applied, usual, request, context))
    }

    private func named(_ response: Response) -> Response {
        var response = response
        response.headers[.scribeFaultApplied] = applied.rule.id
        context.record?.note(fault: applied.rule.id)
        return response
    }
}

extension ScribeContext {
    /// The fault of a request whose body names another world than its head.
    /// - Parameter principal: who the body names.
    package func lateFault(
        of world: World, _ request: Request, _ family: any Family, _ principal: Principal?
    ) -> LateFault? {
        record?.put(in: world.runtime.journal)
        record?.note(principal)
        guard let faultSettings, !world.runtime.faults.needs.isEmpty else { return nil }
        let faults = RequestFaults(world: world, family: family, settings: faultSettings)
        let facts = faults.facts(of: request, self, principal)
        guard let applied = faults.rules.applied(to: facts, at: world.runtime.clock.wall.now) else { return nil }
        logger.notice("a fault is applied", metadata: ["fault": "\(applied.rule.id)"])
        return LateFault(faults: faults, applied: applied, request: request, context: self)
    }

    /// Notes who has logged in with the first message of the request's socket, and to which world.
    package func enterSocket(of world: World, _ principal: Principal) {
        record?.put(in: world.runtime.journal)
        record?.note(principal)
        openSocket?.enter(world, principal)
    }
}
