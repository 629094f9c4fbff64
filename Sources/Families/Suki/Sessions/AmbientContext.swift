import Basics
import ScribeDomain

/// Context of a visit, sent before it ends: patient, provider, visit, and the note's sections (suki.md 3.2).
///
/// A context is valid as a whole, or rejected.
struct AmbientContext: Hashable, Sendable {
    /// The context in the API's own spelling.
    let json: JSONValue

    /// A diagnosis of the context, with its codes.
    struct Diagnosis: Hashable, Sendable {
        struct Code: Hashable, Sendable {
            /// `ICD10`, `IMO` or `SNOMED`.
            let type: String
            let code: String
            let description: String
        }

        let codes: [Code]
        let note: String
    }

    static let empty = AmbientContext(stored: .object([:]))

    /// Decodes a stored context.
    init(stored json: JSONValue) { self.json = json }

    /// Merges a validated change: its members replace old ones, null removes a member, and lists are replaced as a
    /// whole.
    func merged(with change: JSONValue) -> AmbientContext {
        AmbientContext(stored: Self.merged(json, with: change))
    }

    /// The LOINC codes of the requested sections, each once.
    var sections: [String] {
        (json["sections"]?.arrayValue ?? []).compactMap { $0["loinc"]?.stringValue }.removingDuplicates()
    }

    var diagnoses: [Diagnosis] {
        (json["diagnoses"]?["values"]?.arrayValue ?? []).map { value in
            Diagnosis(
                codes: (value["codes"]?.arrayValue ?? []).map {
                    Diagnosis.Code(
                        type: $0["type"]?.stringValue ?? "", code: $0["code"]?.stringValue ?? "",
                        description: $0["description"]?.stringValue ?? "")
                },
                note: value["diagnosis_note"]?.stringValue ?? "")
        }
    }

    // MARK: Merging

    private static func merged(_ old: JSONValue, with new: JSONValue) -> JSONValue {
        guard case .object(var members) = old, case .object(let changes) = new else { return new }
        for (name, value) in changes {
            switch (value, members[name]) {
            case (.null, _): members[name] = nil
            case (.object, let before) where ["patient", "provider", "visit", "emr"].contains(name):
                let sum = (before ?? .object([:])).merged(with: value).withoutNulls()
                members[name] = sum == .object([:]) ? nil : sum
            default: members[name] = value
            }
        }
        return .object(members)
    }
}
