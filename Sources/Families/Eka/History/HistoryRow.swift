import ScribeDomain
import ScribeHTTP

/// A transaction as history lists it: what its clients decode, and no more (eka.md 2.8).
struct HistoryRow {
    let transaction: TransactionSummary

    /// By hand: clients ask for all that there is, and a coder would take several times as long for it.
    func write(to text: inout JSONText) {
        text.write("{")
        text.member("txn_id", string: transaction.id.rawValue)
        text.member("b_id", string: transaction.business.rawValue)
        text.member("uuid", string: transaction.user.rawValue)
        text.member("oid", string: transaction.doctor.rawValue)
        text.member("created_at", string: transaction.createdAt.apiTime)
        text.member("flavour", string: transaction.flavour)
        text.member("version", string: transaction.version ?? "")
        text.member("mode", string: transaction.mode ?? "")
        text.member("user_status", string: transaction.userStatus.rawValue)
        text.member("processing_status", string: transaction.processingStatus.rawValue)
        if let patient = transaction.patientDetails?.asPatient {
            text.member("patient_details")
            text.write(patient)
        }
        text.write("}")
    }
}

extension JSONValue {
    /// The patient as clients decode it, strictly: an age that is an integer and texts besides (C-99, eka.md 2.8).
    /// What can be neither is left out.
    fileprivate var asPatient: JSONValue {
        guard case .object(let members) = self else { return self }
        var patient: [String: JSONValue] = [:]
        for (name, value) in members { patient[name] = name == "age" ? value.asAge : value.asText }
        // Each API has its own words for the same.
        for (one, other) in [("username", "name"), ("biologicalSex", "gender")] {
            patient[one] = patient[one] ?? patient[other]
            patient[other] = patient[other] ?? patient[one]
        }
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
