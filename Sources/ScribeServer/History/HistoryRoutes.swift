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
        let data: [Row]

        enum CodingKeys: String, CodingKey {
            case status, data
            case count = "retrieved_count"
        }
    }

    private struct Row: Encodable {
        let transaction: Transaction

        enum CodingKeys: String, CodingKey {
            case uuid, oid, flavour, version, mode
            case transaction = "txn_id"
            case business = "b_id"
            case createdAt = "created_at"
            case userStatus = "user_status"
            case processingStatus = "processing_status"
            case patientDetails = "patient_details"
        }

        func encode(to encoder: any Encoder) throws {
            var row = encoder.container(keyedBy: CodingKeys.self)
            try row.encode(transaction.id, forKey: .transaction)
            try row.encode(transaction.owner.business, forKey: .business)
            try row.encode(transaction.owner.user, forKey: .uuid)
            try row.encode(transaction.owner.doctor, forKey: .oid)
            try row.encode(transaction.createdAt.apiTime, forKey: .createdAt)
            try row.encode(transaction.request.flavour, forKey: .flavour)
            try row.encode(transaction.request.version ?? "", forKey: .version)
            try row.encode(transaction.request.mode ?? "", forKey: .mode)
            try row.encode(transaction.userStatus.rawValue, forKey: .userStatus)
            try row.encode(transaction.processingStatus.rawValue, forKey: .processingStatus)
            try row.encodeIfPresent(transaction.request.patientDetails?.withIntegerAge, forKey: .patientDetails)
        }
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let count = try request.uri.queryParameters["count"].map { text in
            guard let count = Int(text), (1...Self.largestCount).contains(count) else {
                throw ScribeError.invalidRequest(field: "count", problem: "must be an integer greater than 0")
            }
            return count
        }
        let patient = request.uri.queryParameters["oid"].map(String.init)
        let transactions = try await store.history(
            business: principal.business, user: principal.user, patient: patient, count: count
        )
        return try .json(.ok, Body(count: transactions.count, data: transactions.map(Row.init)))
    }
}

extension JSONValue {
    /// The patient with an age that is an integer, which clients decode strictly (C-99); one that is none is left out.
    fileprivate var withIntegerAge: JSONValue {
        guard case .object(var members) = self, let age = members["age"] else { return self }
        switch age {
        case .integer: break
        case .number(let value): members["age"] = Int64(exactly: value.rounded()).map(JSONValue.integer)
        case .string(let text): members["age"] = Int64(text).map(JSONValue.integer)
        case .null, .bool, .array, .object: members["age"] = nil
        }
        return .object(members)
    }
}

extension Date {
    /// ISO 8601 in UTC, without fractions of a second (C-100).
    var apiTime: String { formatted(.iso8601) }
}
