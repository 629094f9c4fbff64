import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore
import ScribeDomain

/// Validation of requests against `openapi/scribe.yaml`.
package enum ContractMode: String, CaseIterable, Sendable {
    case off
    /// Findings are told in log, journal and answer.
    case warn
    /// A request with a finding is refused.
    case strict
}

/// Operation of a route, looked up once.
final class RouteContract: Sendable {
    private let found = LockedValue<Contract.Operation??>(nil)

    /// - Returns: nil for a route that is not in the contract.
    func operation(of route: RouteGroup.Route) async -> Contract.Operation? {
        if let known = found.withLock({ $0 }) { return known }
        // The document takes a while to read, once in a process.
        let contract = await EventLoopOffload.run(bytes: .max) { Contract.documented }
        let operation = contract?.operation(route.method.rawValue, route.pattern)
        found.withLock { $0 = .some(operation) }
        return operation
    }
}

extension ScribeContext {
    /// Most findings of a request.
    private static let mostFindings = 10

    /// Looks up the operation of a route, and checks the parameters of its request. A refusal waits in
    /// ``contractRefusal`` until the caller is admitted. Sockets are not checked.
    func beginValidation(of request: Request, _ route: RouteGroup.Route) async {
        guard usesNamespaces, !request.headers.wantsWebSocket, let operation = await route.contract.operation(of: route)
        else { return }
        contractOperation = operation
        guard operation.hasParameters else { return }
        do {
            try tell(operation.findings(query: request.values(ofParameter:), header: request.values(of:)))
        } catch {
            contractRefusal = error
        }
    }

    /// Checks the body of the request.
    /// - Parameter body: nil for a body that is empty.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` under ``ContractMode/strict``.
    func validate(_ body: ByteBuffer?) throws {
        guard let operation = contractOperation else { return }
        guard let body, body.readableBytes > 0 else { return try tell(operation.findings(inBody: nil)) }
        guard let value = JSONDocument.untrusted(Data(body.readableBytesView), as: JSONValue.self) else { return }
        try tell(operation.findings(inBody: value))
    }

    /// The answer with the number of findings.
    func withFindings(_ response: Response) -> Response {
        guard findings > 0 else { return response }
        var response = response
        response.headers[.scribeFindings] = String(findings)
        return response
    }

    private func tell(_ new: [ContractFinding]) throws {
        let new = Array(new.prefix(Self.mostFindings - findings))
        guard let first = new.first else { return }
        findings += new.count
        logger.notice(
            "a request does not fit the contract",
            metadata: [
                "findings": "\(new.map(\.text).joined(separator: "; "))", "operation": "\(contractOperation?.id ?? "")",
            ])
        record?.note(new)
        guard contractMode == .strict else { return }
        throw ScribeError.invalidRequest(
            field: first.place.isEmpty ? nil : first.place, problem: "\(first.problem), by the contract")
    }
}
