import Basics
import ScribeDomain
import ScribeHTTP

extension TransactionSummary {
    /// Encodes a transaction for the history, with exactly the members that clients decode (eka.md 2.8).
    var json: JSON {
        [
            "txn_id": .string(id.rawValue),
            "b_id": .string(business.rawValue),
            "uuid": .string(user.rawValue),
            "oid": .string(doctor.rawValue),
            "created_at": .string(createdAt.apiTime),
            "flavour": .string(flavour),
            "version": .string(version ?? ""),
            "mode": .string(mode ?? ""),
            "user_status": .string(userStatus.rawValue),
            "processing_status": .string(processingStatus.rawValue),
            "patient_details": patientDetails.map { .value($0.asPatient) },
        ]
    }
}

extension JSONValue {
    /// The patient in the types that clients require: an integer age, and strings (C-99, eka.md 2.8).
    ///
    /// Other values are left out.
    fileprivate var asPatient: JSONValue {
        guard case .object(let members) = self else { return self }
        var patient: [String: JSONValue] = [:]
        for (name, value) in members { patient[name] = name == "age" ? value.asAge : value.asText }
        // Each name is sent in both spellings; clients differ in which one they read.
        for (one, other) in [("username", "name"), ("biologicalSex", "gender")] {
            patient[one] = patient[one] ?? patient[other]
            patient[other] = patient[other] ?? patient[one]
        }
        return .object(patient)
    }

    private var asAge: JSONValue? {
        switch self {
        case .integer: self
        case .number, .digits: numberValue.flatMap { Int64(exactly: $0.rounded(.down)) }.map(JSONValue.integer)
        case .string(let text): Int64(text).map(JSONValue.integer)
        case .null, .bool, .array, .object: nil
        }
    }

    private var asText: JSONValue? {
        switch self {
        case .null, .string: self
        case .integer, .number, .digits, .bool: scalarText.map(JSONValue.string)
        case .array, .object: nil
        }
    }
}
