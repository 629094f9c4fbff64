import Basics
import ScribeDomain
import ScribeHTTP
import ScribeStore

extension TransactionSummary {
    /// Encodes a transaction for the history, with exactly the members that the client decodes (eka.md 2.8).
    func json(for profile: ClientProfile) -> JSON {
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
            "patient_details": patientDetails.map { .value($0.asPatient(for: profile)) },
        ]
    }
}

extension JSONValue {
    /// The patient in the types that clients require: an integer age, and strings (C-99, eka.md 2.8).
    ///
    /// Other values are left out, and so is an age that the client cannot decode.
    fileprivate func asPatient(for profile: ClientProfile) -> JSONValue {
        guard case .object(let members) = self else { return self }
        var patient: [String: JSONValue] = [:]
        for (name, value) in members { patient[name] = name == "age" ? value.asAge(for: profile) : value.asText }
        // Each name is sent in both spellings; clients differ in which one they read.
        for (one, other) in [("username", "name"), ("biologicalSex", "gender")] {
            patient[one] = patient[one] ?? patient[other]
            patient[other] = patient[other] ?? patient[one]
        }
        return .object(patient)
    }

    private func asAge(for profile: ClientProfile) -> JSONValue? {
        let age: Int64? =
            switch self {
            case .integer(let value): value
            case .number, .digits: numberValue.flatMap { Int64(exactly: $0.rounded(.down)) }
            case .string(let text): Int64(text)
            case .null, .bool, .array, .object: nil
            }
        return age.flatMap { profile.canDecode($0) ? .integer($0) : nil }
    }

    private var asText: JSONValue? {
        switch self {
        case .null, .string: self
        case .integer, .number, .digits, .bool: scalarText.map(JSONValue.string)
        case .array, .object: nil
        }
    }
}
