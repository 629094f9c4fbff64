import Basics
package import Foundation
package import ScribeDomain

/// Visit that a note is about, for formats that name it: identifier, time and patient.
package struct Visit: Hashable, Sendable {
    /// Sex of a patient as the client stated it, by the names that FHIR uses.
    package enum Gender: String, Hashable, Sendable {
        case male, female, other
    }

    /// Owner of the recording; it makes the identifiers of two businesses differ.
    package let business: String
    /// Identifier of the recording within its business, such as a transaction id.
    package let id: String
    /// Time of the visit.
    package let time: Date
    /// Name of the patient; nil if the client gave none.
    package let patient: String?
    package let gender: Gender?

    package init(id: String, business: String = "", time: Date, patient: String? = nil, gender: Gender? = nil) {
        self.business = business
        self.id = id
        self.time = time
        self.patient = patient
        self.gender = gender
    }

    /// Creates the visit of a recording.
    package init(_ key: Transaction.Key, _ request: TransactionRequest, at time: Date) {
        func detail(_ name: String) -> String? {
            request.patientDetails?[name]?.stringValue.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        }
        let gender: Gender? =
            switch detail("biologicalSex")?.lowercased() {
            case "m", "male": .male
            case "f", "female": .female
            case "o", "other": .other
            default: nil
            }
        self.init(
            id: key.id.rawValue, business: key.business.rawValue, time: time,
            patient: detail("username") ?? detail("name"), gender: gender)
    }
}
