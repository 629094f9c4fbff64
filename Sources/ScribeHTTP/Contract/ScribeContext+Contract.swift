import Basics
import Foundation
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore
import ScribeDomain

/// Validation of requests and answers against `openapi/scribe.yaml`.
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
    /// Most findings of a request and its answer.
    private static let mostFindings = 10
    /// Longest answer that is checked, in bytes.
    private static let longestAnswer = 128 << 10

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
    /// - Parameter body: the decoded body; nil for an empty one.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` under ``ContractMode/strict``.
    func validate(_ body: JSONDocument?) throws {
        guard let operation = contractOperation else { return }
        try tell(operation.findings(inBody: body?.value))
    }

    /// Checks the answer, and gives it the number of findings about the request and itself.
    func validated(_ response: consuming Response) async throws -> Response {
        if let operation = contractOperation, operation.hasAnswer(response.status.code) {
            note(try await findings(in: &response, operation), about: "an answer")
        }
        if findings > 0 { response.headers[.scribeFindings] = String(findings) }
        return response
    }

    private func findings(
        in response: inout Response, _ operation: Contract.Operation
    ) async throws -> [Remark] {
        let status = response.status.code
        let kept = repeatedAnswer.flatMap {
            $0.status == response.status && $0.body.readableBytes == response.body.contentLength ? $0 : nil
        }
        if let known = kept?.findings.withLock({ $0 }) { return known }
        guard let length = response.body.contentLength, length <= Self.longestAnswer,
            response.headers.value(of: .contentType) == "application/json"
        else { return [] }
        let collected = CollectedBody()
        try await response.body.write(collected)
        let body = collected.buffer
        response.body = ResponseBody(byteBuffer: body)
        let found = await EventLoopOffload.run(bytes: length) {
            JSONDocument.written(String(buffer: body)).flatMap { operation.findings(inAnswer: $0, status: status) }
                ?? []
        }
        kept?.findings.withLock { $0 = found }
        return found
    }

    private func tell(_ new: [Remark]) throws {
        note(new, about: "a request")
        guard contractMode == .strict, let first = new.first else { return }
        throw ScribeError.invalidRequest(
            field: first.place.isEmpty ? nil : first.place, problem: "\(first.problem), by the contract")
    }

    private func note(_ new: [Remark], about part: String) {
        let new = Array(new.prefix(Self.mostFindings - findings))
        guard !new.isEmpty else { return }
        findings += new.count
        logger.notice(
            "\(part) does not fit the contract",
            metadata: [
                "findings": "\(new.map(\.text).joined(separator: "; "))", "operation": "\(contractOperation?.id ?? "")",
            ])
        record?.note(new, in: \.findings)
    }
}
