import Foundation
import ScribeDomain
import ScribeHTTP

/// A transaction as history lists it: what its clients decode, and no more (eka.md 2.8).
struct HistoryRow: Encodable {
    let transaction: TransactionSummary

    private enum CodingKeys: String, CodingKey {
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
        try row.encode(transaction.business, forKey: .business)
        try row.encode(transaction.user, forKey: .uuid)
        try row.encode(transaction.doctor, forKey: .oid)
        try row.encode(transaction.createdAt.apiTime, forKey: .createdAt)
        try row.encode(transaction.flavour, forKey: .flavour)
        try row.encode(transaction.version ?? "", forKey: .version)
        try row.encode(transaction.mode ?? "", forKey: .mode)
        try row.encode(transaction.userStatus.rawValue, forKey: .userStatus)
        try row.encode(transaction.processingStatus.rawValue, forKey: .processingStatus)
        try row.encodeIfPresent(transaction.patientDetails?.asPatient, forKey: .patientDetails)
    }
}

extension JSONValue {
    /// The patient as clients decode it, strictly: an age that is an integer and texts besides (C-99, eka.md 2.8).
    /// What can be neither is left out.
    fileprivate var asPatient: JSONValue {
        guard case .object(let members) = self else { return self }
        var patient: [String: JSONValue] = [:]
        for (name, value) in members { patient[name] = name == "age" ? value.asAge : value.asText }
        return .object(patient)
    }

    private var asAge: JSONValue? {
        switch self {
        case .integer: self
        case .number(let value): Int64(exactly: value.rounded(.down)).map(JSONValue.integer)
        case .string(let text): Int64(text).map(JSONValue.integer)
        case .null, .bool, .array, .object: nil
        }
    }

    private var asText: JSONValue? {
        switch self {
        case .null, .string: self
        case .integer, .number, .bool: scalarText.map(JSONValue.string)
        case .array, .object: nil
        }
    }
}
