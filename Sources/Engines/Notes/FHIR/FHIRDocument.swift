package import Basics
import Crypto
import Foundation
package import ScribeDomain

/// Encodes a note as a FHIR R4 document: a bundle whose first entry is a Composition with the template's sections.
///
/// Clinical concepts are texts without codes, because a code would state more than the speaker said. Codes remain
/// where R4 requires one (statuses) and for units (UCUM). Everything is preliminary: a person has not checked it.
package struct FHIRDocument {
    private let visit: Visit
    private let template: Template
    /// Sections that have content, with the places of their facts.
    private let sections: [(section: Template.Section, places: [Int])]
    private let facts: [ClinicalFact]
    private let transcript: String
    private let wording: ([ClinicalFact], Template.Section) -> String
    private let references: References

    /// Most statements with a resource of their own, which takes some 900 bytes. The sections have all statements.
    private static let mostStatements = 1000

    /// Creates a document with the facts that belong into the template, as the rules word them.
    package init(_ template: Template, _ facts: [ClinicalFact], of visit: Visit, transcript: String) {
        self.init(
            template, template.filled(with: facts), of: visit, transcript: transcript, wording: RulesNoteWriter.text)
    }

    /// Creates a document.
    /// - Parameters:
    ///   - sections: facts of each section of the template.
    ///   - transcript: content of the document if no section has a fact.
    ///   - wording: text of the facts of one section, for sections that are paragraphs.
    init(
        _ template: Template, _ sections: [NoteEncoding.Section], of visit: Visit, transcript: String,
        wording: @escaping ([ClinicalFact], Template.Section) -> String
    ) {
        self.visit = visit
        self.template = template
        self.transcript = transcript
        self.wording = wording
        let facts = sections.flatMap(\.facts).removingDuplicates()
        let places = Dictionary(uniqueKeysWithValues: zip(facts, facts.indices))
        self.sections = sections.filter { !$0.facts.isEmpty }
            .map { ($0.section, $0.facts.compactMap { places[$0] }.removingDuplicates()) }
        self.facts = facts
        references = References(seed: "\(visit.business)\n\(visit.id)\n\(template.id)\n")
    }

    /// Identifiers of the resources. The same visit and template give the same identifiers.
    struct References {
        fileprivate let seed: String

        fileprivate func id(_ name: String) -> String { UUID(hashing: seed + name).uuidString.lowercased() }
        fileprivate func url(_ name: String) -> String { "urn:uuid:\(id(name))" }
        fileprivate func reference(_ name: String) -> JSON { ["reference": .string(url(name))] }

        var patient: JSON { reference("patient") }
        var encounter: JSON { reference("encounter") }
    }

    /// JSON of the bundle.
    package var json: JSON {
        let used = facts.indices.prefix(Self.mostStatements)
        let frame = [
            Part(name: "composition", words: title, json: composition),
            Part(name: "patient", words: visit.patient ?? "Patient without a name", json: patient),
            Part(name: "encounter", words: "Visit of \(visit.time.iso8601)", json: encounter(used.map { facts[$0] })),
            Part(name: "device", words: "scribe-emulator: a note for tests, not for care", json: device),
        ]
        let statements = used.map { place in
            Part(
                name: name(of: place), words: facts[place].text,
                json: FHIRResource(fact: facts[place], visit: visit, references: references).json)
        }
        let entries = JSON.array(frame + statements) { part in
            let head: JSON = [
                "id": .string(references.id(part.name)), "text": Self.narrative([part.words], isList: false),
            ]
            return ["fullUrl": .string(references.url(part.name)), "resource": part.json.adding(head).withoutControls]
        }
        // The identifier belongs to this content: another note of the visit has another one.
        let id = UUID(hashing: references.seed + String(decoding: entries.bytes, as: UTF8.self)).uuidString.lowercased()
        return [
            "resourceType": "Bundle", "id": .string(id),
            "identifier": ["system": "urn:ietf:rfc:3986", "value": .string("urn:uuid:\(id)")],
            "type": "document", "timestamp": .string(visit.time.iso8601), "entry": entries,
        ]
    }

    /// One resource of the bundle, without its id and its narrative.
    private struct Part {
        let name: String
        /// Text of the narrative.
        let words: String
        let json: JSON
    }

    /// Name of a statement's resource. It has the words, so that another statement never gets the same identifier.
    private func name(of place: Int) -> String { "\(place + 1) \(facts[place].kind.rawValue) \(facts[place].text)" }

    private var title: String { template.name.isEmpty ? "Note" : template.name }

    // MARK: Frame

    private var composition: JSON {
        let content: JSON =
            sections.isEmpty
            ? [
                [
                    "title": "Conversation",
                    "text": Self.narrative(transcript.lines.map(String.init), isList: true, status: "additional"),
                ]
            ]
            : .array(sections) { section, places in
                let facts = places.map { self.facts[$0] }
                let named = places.filter { $0 < Self.mostStatements }
                return [
                    "title": .string(section.title),
                    "text": Self.narrative(
                        section.isParagraph ? [wording(facts, section)] : facts.map(\.text),
                        isList: !section.isParagraph, status: named == places ? "generated" : "additional"),
                    "entry": named.isEmpty ? nil : .array(named) { references.reference(name(of: $0)) },
                ]
            }
        return [
            "resourceType": "Composition", "status": "preliminary", "type": ["text": "Clinical note"],
            "subject": references.patient, "encounter": references.encounter, "date": .string(visit.time.iso8601),
            "author": [references.reference("device")], "title": .string(title),
            "section": content,
        ]
    }

    /// Narrative in XHTML.
    /// - Parameter status: `generated` if the resources state all of it, else `additional`.
    private static func narrative(_ lines: [String], isList: Bool, status: JSON = "generated") -> JSON {
        let shown = lines.filter { !$0.allSatisfy(\.isWhitespace) }.map(\.escapedForMarkup)
        let body =
            if shown.isEmpty {
                "<p>Nothing was said.</p>"
            } else if isList {
                "<ul>\(shown.map { "<li>\($0)</li>" }.joined())</ul>"
            } else {
                shown.map { "<p>\($0)</p>" }.joined()
            }
        return ["status": status, "div": .string("<div xmlns=\"http://www.w3.org/1999/xhtml\">\(body)</div>")]
    }

    private var patient: JSON {
        [
            "resourceType": "Patient", "name": visit.patient.map { [["text": .string($0)]] },
            "gender": visit.gender.map { .string($0.rawValue) },
        ]
    }

    private func encounter(_ facts: [ClinicalFact]) -> JSON {
        let reasons = facts.filter { $0.kind == .chiefComplaint }
        // R4 requires a class, and no speaker says whether the patient is an inpatient.
        let unknown: JSON = [
            "extension": [
                ["url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason", "valueCode": "unknown"]
            ]
        ]
        return [
            "resourceType": "Encounter", "identifier": [["value": .string(visit.id)]], "status": "finished",
            "class": unknown, "subject": references.patient, "period": ["start": .string(visit.time.iso8601)],
            "reasonCode": reasons.isEmpty ? nil : .array(reasons) { ["text": .string($0.text)] },
        ]
    }

    private var device: JSON {
        [
            "resourceType": "Device",
            "deviceName": [["name": "scribe-emulator", "type": "user-friendly-name"]],
        ]
    }
}

extension UUID {
    /// Creates a UUID of version 8 (RFC 9562) from a text: the first 16 bytes of its SHA-256.
    fileprivate init(hashing text: String) {
        var bytes = Array(SHA256.hash(data: Data(text.utf8)))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
}

extension JSON {
    /// Copy without the control characters that FHIR's strings may not have.
    fileprivate var withoutControls: JSON {
        switch self {
        case .string(let text):
            .string(
                String(
                    String.UnicodeScalarView(
                        text.unicodeScalars.filter { $0.value >= 0x20 || ["\t", "\n", "\r"].contains($0) })))
        case .array(let values): .array(values.map(\.withoutControls))
        case .object(let members): .object(members.map { ($0.name, $0.value.withoutControls) })
        case .null, .bool, .integer, .number, .value: self
        }
    }
}
