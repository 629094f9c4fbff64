import Foundation
import Hummingbird
import ScribeDomain
import ScribeStore

/// `GET /voice/api/v2/transaction/history` (eka-v2.md 2.8).
struct HistoryRoutes: Sendable {
    /// What every JSON reader can hold.
    private static let largestCount = 1 << 53 - 1

    let store: Store

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("voice/api/v2/transaction/history", use: list)
    }

    private struct Body: Encodable {
        let status = "success"
        let count: Int
        let data: [TransactionRow]

        enum CodingKeys: String, CodingKey {
            case status, data
            case count = "retrieved_count"
        }
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let count = try request.uri.queryParameters["count"].flatMap { $0.isEmpty ? nil : $0 }.map { text in
            guard let count = Int(text), (1...Self.largestCount).contains(count) else {
                throw ScribeError.invalidRequest(field: "count", problem: "must be an integer greater than 0")
            }
            return count
        }
        let patient = request.uri.queryParameters["oid"].map(String.init).flatMap { $0.isEmpty ? nil : $0 }
        let transactions = try await store.history(
            business: principal.business, user: principal.user, patient: patient, count: count
        )
        return try .json(
            .ok,
            Body(
                count: transactions.count, data: transactions.map { TransactionRow(transaction: $0, isComplete: false) }
            ))
    }
}
