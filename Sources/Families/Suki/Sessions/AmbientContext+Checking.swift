import Basics
import Foundation
import ScribeDomain

/// Validates a context (suki.md 3.2, 3.5).
extension AmbientContext {
    private static let sexes = ["male", "female", "other", "unknown"]
    private static let roles = [
        "ATTENDING": "ATTENDING", "CONSULTING": "CONSULTING", "PRIMARY": "ATTENDING",
        "PRIMARY/ATTENDING": "ATTENDING", "PRIMARY_ATTENDING": "ATTENDING",
    ]
    private static let visitTypes = [
        "NEW_PATIENT": "NEW_PATIENT", "NEW PATIENT / INTAKE": "NEW_PATIENT", "NEW PATIENT": "NEW_PATIENT",
        "ESTABLISHED_PATIENT": "ESTABLISHED_PATIENT", "ESTABLISHED PATIENT": "ESTABLISHED_PATIENT",
        "WELLNESS": "WELLNESS", "ED": "ED",
    ]
    private static let codeTypes = [
        "ICD10": "ICD10", "ICD-10": "ICD10", "ICD_10": "ICD10", "ICD10-CM": "ICD10", "ICD-10-CM": "ICD10",
        "IMO": "IMO", "SNOMED": "SNOMED", "SNOMED-CT": "SNOMED", "SNOMED_CT": "SNOMED",
    ]

    /// Options shown by the info routes.
    static let encounterTypes = ["AMBULATORY", "INPATIENT", "ED"]
    static let shownVisitTypes = ["NEW_PATIENT", "ESTABLISHED_PATIENT", "WELLNESS", "ED"]
    static let shownRoles = ["ATTENDING", "CONSULTING"]

    private static let knownSections = AmbientSection.all.map { "\($0.code) \($0.title)" }.joined(separator: ", ")

    private static let longestText = 255
    private static let longestNote = 4096
    private static let maxDiagnoses = 200
    private static let maxCodes = 20

    /// Validates a context, and returns its known members in the API's spelling. Nulls stay: a merge interprets them.
    /// - Parameter today: Latest possible date of birth.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, ``DiagnosisProblem``.
    static func checked(_ body: JSONValue, today: Date) throws -> JSONValue {
        guard case .object(let members) = body else {
            throw ScribeError.invalidRequest(field: nil, problem: "the context must be an object")
        }
        var checked: [String: JSONValue] = [:]
        if let patient = members["patient"] { checked["patient"] = try self.patient(patient, today) }
        if let provider = members["provider"] { checked["provider"] = try self.provider(provider) }
        if let visit = members["visit"] { checked["visit"] = try self.visit(visit) }
        if let sections = members["sections"] { checked["sections"] = try self.sections(sections) }
        if let diagnoses = members["diagnoses"], diagnoses != .object([:]) {
            checked["diagnoses"] = try self.diagnoses(diagnoses)
        }
        if let emr = members["emr"] {
            checked["emr"] = try object(emr, "emr") { (emr) throws in
                ["target_emr": try word(emr["target_emr"], "emr.target_emr", same(["ATHENA", "EPIC", "CERNER"]))]
            }
        }
        if let orders = members["orders"] {
            let isKept = orders == .null || orders.isObject
            guard isKept else { throw ScribeError.invalidRequest(field: "orders", problem: "must be an object") }
            guard orders.isNested(atMost: 40) else {
                throw ScribeError.invalidRequest(field: "orders", problem: "is nested too deeply")
            }
            try Limits.require(orders, within: Limits.echo, "orders")
            checked["orders"] = orders
        }
        return .object(checked)
    }

    /// Validates an object's known members; absent ones are left out.
    private static func object(
        _ value: JSONValue, _ field: String,
        _ members: ([String: JSONValue]) throws -> [String: JSONValue?]
    ) throws -> JSONValue {
        switch value {
        case .null: return .null
        case .object(let sent): return .object(try members(sent).compactMapValues(\.self))
        case .bool, .integer, .number, .digits, .string, .array:
            throw ScribeError.invalidRequest(field: field, problem: "must be an object")
        }
    }

    private static func same(_ words: [String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: words.map { ($0, $0) })
    }

    /// Matches one of the words, in any case.
    private static func word(
        _ value: JSONValue?, _ field: String, _ words: [String: String]
    ) throws -> JSONValue? {
        guard let value, value != .null else { return value }
        guard let text = value.stringValue, let known = words[text.uppercased()] else {
            throw ScribeError.invalidRequest(
                field: field, problem: "is none of \(Set(words.values).sorted().joined(separator: ", "))")
        }
        return .string(known)
    }

    private static func text(
        _ value: JSONValue?, _ field: String, atMost limit: Int
    ) throws -> JSONValue? {
        guard let value, value != .null else { return value }
        guard case .string(let text) = value else {
            throw ScribeError.invalidRequest(field: field, problem: "must be a string")
        }
        guard text.count <= limit, text.utf8.count <= 16 * limit else {
            throw ScribeError.invalidRequest(field: field, problem: "must have at most \(limit) characters")
        }
        return .string(text.storable)
    }

    private static func patient(_ value: JSONValue, _ today: Date) throws -> JSONValue {
        try object(value, "patient") { (patient) throws in
            // The patient's name is never stored (addendum 3).
            let birth = patient["dob"] ?? patient["birthdate"] ?? patient["birth_date"]
            if let birth, birth != .null {
                guard let text = birth.stringValue, let day = CalendarDay(text), day <= CalendarDay(today) else {
                    throw ScribeError.invalidRequest(
                        field: "patient.dob", problem: "must be a day as YYYY-MM-DD, not in the future")
                }
            }
            let sex = try word(
                patient["sex"] ?? patient["gender"], "patient.sex",
                Dictionary(uniqueKeysWithValues: sexes.map { ($0.uppercased(), $0) }))
            return ["dob": birth, "sex": sex]
        }
    }

    private static func provider(_ value: JSONValue) throws -> JSONValue {
        try object(value, "provider") { (provider) throws in
            let said = provider["specialty"] ?? provider["speciality"]
            var specialty = said
            if let said, said != .null {
                guard let name = said.stringValue.flatMap(AmbientSpecialty.named) else {
                    throw ScribeError.invalidRequest(field: "provider.specialty", problem: "is not a known specialty")
                }
                specialty = .string(name)
            }
            let role = try word(
                provider["provider_role"] ?? provider["role"], "provider.provider_role", roles)
            return ["specialty": specialty, "provider_role": role]
        }
    }

    private static func visit(_ value: JSONValue) throws -> JSONValue {
        try object(value, "visit") { (visit) throws in
            [
                "visit_type": try word(visit["visit_type"], "visit.visit_type", visitTypes),
                "encounter_type": try word(visit["encounter_type"], "visit.encounter_type", same(encounterTypes)),
                "reason_for_visit": try text(visit["reason_for_visit"], "visit.reason_for_visit", atMost: longestText),
                "chief_complaint": try text(visit["chief_complaint"], "visit.chief_complaint", atMost: longestText),
            ]
        }
    }

    private static func sections(_ value: JSONValue) throws -> JSONValue {
        guard value != .null else { return .null }
        guard case .array(let items) = value else {
            throw ScribeError.invalidRequest(field: "sections", problem: "must be an array")
        }
        try Limits.require(items.count, atMost: Limits.sectionsOfTemplate, "sections")
        var sections: [JSONValue] = []
        var problemBased = 0
        for (index, item) in items.enumerated() {
            let field = "sections.\(index)"
            guard item.isObject else { throw ScribeError.invalidRequest(field: field, problem: "must be an object") }
            var section: [String: JSONValue] = ["loinc": .string(try code(of: item, field))]
            switch item["is_pbn_section"] ?? item["isPBNSection"] {
            case .bool(let isProblemBased)?:
                problemBased += isProblemBased ? 1 : 0
                section["is_pbn_section"] = .bool(isProblemBased)
            case nil, .null?: break
            default:
                throw ScribeError.invalidRequest(field: "\(field).is_pbn_section", problem: "must be true or false")
            }
            sections.append(.object(section))
        }
        guard problemBased <= 1 else {
            throw ScribeError.invalidRequest(field: "sections", problem: "may have one problem-based section")
        }
        return .array(sections)
    }

    /// The LOINC code of a section. Older SDKs send the title alone.
    private static func code(of item: JSONValue, _ field: String) throws -> String {
        func sent(_ name: String) -> JSONValue? { item[name].flatMap { $0 == .null || $0 == .string("") ? nil : $0 } }
        if let loinc = sent("loinc") ?? sent("code") {
            if let code = loinc.stringValue, AmbientSection[code] != nil { return code }
        } else if let title = sent("title") {
            if let section = title.stringValue.flatMap(AmbientSection.titled) { return section.code }
            throw ScribeError.invalidRequest(
                field: "\(field).title", problem: "is no title of a section: \(knownSections)")
        }
        throw ScribeError.invalidRequest(
            field: "\(field).loinc", problem: "is no LOINC code of a section: \(knownSections)")
    }

    private static func diagnoses(_ value: JSONValue) throws -> JSONValue {
        if value == .null { return .null }
        let list = value["values"] ?? value
        if list == .null { return .null }
        guard case .array(let items) = list else {
            throw ScribeError.invalidRequest(field: "diagnoses.values", problem: "must be an array")
        }
        try Limits.require(items.count, atMost: maxDiagnoses, "diagnoses.values")
        var values: [JSONValue] = []
        for (index, item) in items.enumerated() { values.append(try diagnosis(item, "diagnoses.values.\(index)")) }
        return .object(["values": .array(values)])
    }

    private static func diagnosis(_ item: JSONValue, _ field: String) throws -> JSONValue {
        guard item.isObject else { throw ScribeError.invalidRequest(field: field, problem: "must be an object") }
        guard case .array(let given)? = item["codes"], !given.isEmpty else {
            throw DiagnosisProblem(
                id: "missingDiagnosisCodes", field: "\(field).codes", "is missing: a diagnosis has one code at least")
        }
        try Limits.require(given.count, atMost: maxCodes, "\(field).codes")
        var codes: [JSONValue] = []
        for (index, code) in given.enumerated() {
            let path = "\(field).codes.\(index)"
            guard let name = (code["type"] ?? code["code_type"] ?? code["codeType"])?.stringValue, !name.isEmpty,
                let text = code["code"]?.stringValue, !text.isEmpty
            else { throw DiagnosisProblem(id: "missingCodeFields", field: path, "must have a type and a code") }
            guard let type = codeTypes[name.uppercased()] else {
                throw DiagnosisProblem(
                    id: "noValidDiagnosis", field: "\(path).type",
                    "is none of \(Set(codeTypes.values).sorted().joined(separator: ", "))")
            }
            guard text.utf8.count <= 64, text.isPlain else {
                throw ScribeError.invalidRequest(field: "\(path).code", problem: "is no code")
            }
            let description = try self.text(
                code["description"] ?? code["codeDescription"], "\(path).description", atMost: longestText)
            codes.append(
                .object(
                    ["type": .string(type), "code": .string(text), "description": description ?? .string("")]
                        .mapValues { $0 == .null ? .string("") : $0 }))
        }
        var members: [String: JSONValue] = ["codes": .array(codes)]
        let note = try text(
            item["diagnosis_note"] ?? item["diagnosisNote"], "\(field).diagnosis_note", atMost: longestNote)
        if let note, note != .null { members["diagnosis_note"] = note }
        return .object(members)
    }
}

/// A problem with a diagnosis in the context, with an id that never changes (suki.md 3.5).
struct DiagnosisProblem: Error, Hashable, Sendable {
    let id: String
    /// Path of the faulty member, such as `diagnoses.values.0.codes`.
    let field: String
    let problem: String

    init(id: String, field: String, _ problem: String) {
        self.id = id
        self.field = field
        self.problem = problem
    }
}
