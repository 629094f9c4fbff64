import Foundation
import ScribeDomain

/// What a client has told of a visit before it ends: for whom, by whom, and which sections its note is to have (suki.md
/// 3.2). Valid as a whole, or not there.
struct AmbientContext: Hashable, Sendable {
    /// As it is shown: in the API's own words, whatever spelling was sent.
    let json: JSONValue

    /// A diagnosis that was given, with its codes.
    struct Diagnosis: Hashable, Sendable {
        struct Code: Hashable, Sendable {
            /// `ICD10`, `IMO` or `SNOMED`.
            let type: String
            let code: String
            let description: String

            init(type: String, code: String, description: String) {
                self.type = type
                self.code = code
                self.description = description
            }
        }

        let codes: [Code]
        let note: String
    }

    static let empty = AmbientContext(stored: .object([:]))

    /// As it was stored.
    init(stored json: JSONValue) { self.json = json }

    /// What a client says of it, looked at already.
    struct Change: Hashable, Sendable {
        fileprivate let json: JSONValue

        /// - Parameter today: nobody is born later.
        /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, ``DiagnosisProblem``; nothing of it counts then.
        init(_ body: JSONValue, today: Date) throws {
            json = try AmbientContext.checked(body, today: today)
        }
    }

    /// With what is in the change in the place of what was there; null takes a thing away. Lists change as a whole.
    func merged(with change: Change) -> AmbientContext {
        AmbientContext(stored: Self.merged(json, with: change.json))
    }

    /// The codes of the sections that were asked for, each once.
    var sections: [String] {
        guard case .array(let items)? = json["sections"] else { return [] }
        return items.compactMap { $0["loinc"]?.stringValue }.removingDuplicates()
    }

    var diagnoses: [Diagnosis] {
        guard case .array(let values)? = json["diagnoses"]?["values"] else { return [] }
        return values.map { value in
            var codes: [JSONValue] = []
            if case .array(let items)? = value["codes"] { codes = items }
            return Diagnosis(
                codes: codes.map {
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
