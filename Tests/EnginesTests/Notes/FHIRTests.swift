import Basics
import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct FHIRTests {
    private static let kinds: [ClinicalFact.Kind] = [
        .chiefComplaint, .complaint, .presentIllness, .negative, .history, .allergy, .vital, .examination, .result,
        .assessment, .medication, .investigation, .referral, .plan, .advice, .followUp,
    ]

    private static func bundle(
        _ facts: [ClinicalFact], kinds: [ClinicalFact.Kind] = kinds, transcript: String = "words",
        id: String = "t", business: String = "b"
    ) throws -> JSONValue {
        let template = Template(
            id: .init("n"), name: "Note", format: .fhir, bucket: .custom,
            sections: kinds.map { .init(title: $0.rawValue, facts: [$0]) })
        let visit = Visit(
            id: id, business: business, time: Date(timeIntervalSince1970: 1_800_000_000), patient: "Asha Rao",
            gender: .female)
        let json = FHIRDocument(template, facts, of: visit, transcript: transcript).json
        return try JSONDocument(json.bytes).decode(JSONValue.self)
    }

    private static func resources(_ bundle: JSONValue) -> [JSONValue] {
        (bundle["entry"]?.arrayValue ?? []).compactMap { $0["resource"] }
    }

    private static func types(_ resources: [JSONValue]) -> [String] {
        resources.compactMap { $0["resourceType"]?.stringValue }
    }

    /// The resource of one fact.
    private static func resource(_ fact: ClinicalFact) throws -> JSONValue {
        try #require(resources(try bundle([fact], kinds: [fact.kind])).dropFirst(4).first)
    }

    private static func item(_ value: JSONValue?, _ place: Int = 0) -> JSONValue? {
        let items = value?.arrayValue ?? []
        return items.indices.contains(place) ? items[place] : nil
    }

    @Test("a document begins with a composition, and names patient, encounter and author")
    func frame() throws {
        let bundle = try Self.bundle([ClinicalFact(.chiefComplaint, "fever for two days", details: ["name": "fever"])])
        #expect(bundle["type"] == .string("document"))
        #expect(bundle["timestamp"] == .string("2027-01-15T08:00:00Z"))
        let all = Self.resources(bundle)
        #expect(Self.types(all) == ["Composition", "Patient", "Encounter", "Device", "Condition"])
        #expect(Self.item(all[1]["name"])?["text"] == .string("Asha Rao"))
        #expect(all[1]["gender"] == .string("female"))
        #expect(Self.item(all[2]["identifier"])?["value"] == .string("t"))
        #expect(all[4]["code"]?["text"] == .string("fever for two days"))
        let section = try #require(Self.item(all[0]["section"]))
        #expect(Self.item(section["entry"])?["reference"]?.stringValue?.hasPrefix("urn:uuid:") == true)
    }

    @Test("the same visit has the same identifiers, and other content or another business has others")
    func identity() throws {
        let fact = ClinicalFact(.complaint, "cough")
        let first = try Self.bundle([fact])
        #expect(try Self.bundle([fact]) == first)
        let others = try [
            Self.bundle([ClinicalFact(.complaint, "fever")]), Self.bundle([fact], business: "c"),
            Self.bundle([fact], id: "u"),
        ]
        let ids = ([first] + others).compactMap { $0["id"]?.stringValue }
        #expect(Set(ids).count == 4)
        #expect(Self.resources(others[0])[1]["id"] == Self.resources(first)[1]["id"])
        #expect(Self.resources(others[1])[1]["id"] != Self.resources(first)[1]["id"])
        #expect(Self.resources(others[0])[4]["id"] != Self.resources(first)[4]["id"], "another statement")
    }

    @Test("a document without facts has the conversation, with its markup escaped")
    func empty() throws {
        let all = Self.resources(try Self.bundle([], transcript: "Good <morning>."))
        #expect(all.count == 4)
        let text = try #require(Self.item(all[0]["section"])?["text"]?["div"]?.stringValue)
        #expect(text.contains("<li>Good &lt;morning&gt;.</li>"))
        // The resources state nothing of it.
        #expect(Self.item(all[0]["section"])?["text"]?["status"] == .string("additional"))
        let nothing = Self.resources(try Self.bundle([], transcript: " \n"))
        #expect(
            Self.item(nothing[0]["section"])?["text"]?["div"]?.stringValue?.contains("<p>Nothing was said.</p>") == true
        )
    }

    @Test("every resource has a narrative, and no string has control characters")
    func narrative() throws {
        let all = Self.resources(try Self.bundle([ClinicalFact(.advice, "rest \u{1}& \u{B}drink")]))
        for resource in all { #expect(resource["text"]?["div"]?.stringValue?.contains("</p></div>") == true) }
        #expect(all[4]["description"] == .string("rest & drink"))
        #expect(all[4]["text"]?["div"]?.stringValue?.contains("<p>rest &amp; drink</p>") == true)
    }

    @Test("a very long note has its statements in the sections, and resources for a thousand of them")
    func many() throws {
        let facts = (1...1010).map { ClinicalFact(.complaint, "pain \($0)") } + [ClinicalFact(.advice, "rest")]
        let all = Self.resources(try Self.bundle(facts))
        #expect(all.count == 1004)
        let complaints = Self.item(all[0]["section"])
        #expect(complaints?["entry"]?.arrayValue?.count == 1000)
        #expect(complaints?["text"]?["status"] == .string("additional"))
        #expect(complaints?["text"]?["div"]?.stringValue?.contains("<li>pain 1010</li>") == true)
        #expect(Self.item(all[0]["section"], 1)?["entry"] == nil)
    }

    @Test("a paragraph has its writer's words, and a fact of two sections has one resource")
    func wording() throws {
        let fact = ClinicalFact(.complaint, "reports a cough")
        let section = Template.Section(title: "Symptoms", facts: [.complaint], isParagraph: true)
        let template = Template(
            id: .init("n"), name: "Note", format: .fhir, bucket: .custom, sections: [section, section])
        let request = NoteRequest(template, from: "", of: Visit(id: "t", time: Date(timeIntervalSince1970: 0)))
        let text = NoteEncoding(request, [(section, [fact]), (section, [fact])]) { _, _ in "As the model says." }.text
        let all = Self.resources(try JSONDocument(text.utf8).decode(JSONValue.self))
        #expect(Self.types(all) == ["Composition", "Patient", "Encounter", "Device", "Condition"])
        let div = Self.item(all[0]["section"], 1)?["text"]?["div"]?.stringValue
        #expect(div?.contains("<p>As the model says.</p>") == true)
    }

    @Test("facts of kinds that the template leaves out are not in the document")
    func left() throws {
        let facts = [ClinicalFact(.complaint, "cough"), ClinicalFact(.medication, "x 5 mg")]
        let all = Self.resources(try Self.bundle(facts, kinds: [.complaint]))
        #expect(!Self.types(all).contains("MedicationStatement"))
        let reason = [ClinicalFact(.chiefComplaint, "cough"), ClinicalFact(.advice, "rest")]
        #expect(Self.resources(try Self.bundle(reason, kinds: [.advice]))[2]["reasonCode"] == nil)
        #expect(Self.resources(try Self.bundle(reason))[2]["reasonCode"] != nil)
    }

    @Test(
        "vital signs are quantities with units in UCUM",
        arguments: [
            ("temperature 38.2", 38.2, "Cel"), ("temperature 38 degrees celsius", 38, "Cel"),
            ("temp 101", 101, "[degF]"),
            ("pulse 88", 88, "/min"), ("pulse 92 and irregular", 92, "/min"), ("respiratory rate 16", 16, "/min"),
            ("oxygen saturation 97 percent", 97, "%"), ("SpO2 97", 97, "%"), ("weight 80 kilos", 80, "kg"),
            ("weight 180 pounds", 180, "[lb_av]"), ("height 172 cm", 172, "cm"), ("BMI 31.5", 31.5, "kg/m2"),
        ] as [(String, Double, String)])
    func vitals(text: String, value: Double, unit: String) throws {
        let resource = try Self.resource(ClinicalFact(.vital, text))
        let quantity = resource["valueQuantity"]
        #expect(quantity?["code"] == .string(unit))
        #expect(quantity?["system"] == .string("http://unitsofmeasure.org"))
        #expect(quantity?["value"]?.scalarText.flatMap(Double.init) == value)
    }

    @Test("a blood pressure has two components, and a posture stays in a note")
    func pressure() throws {
        let resource = try Self.resource(ClinicalFact(.vital, "blood pressure lying 142/80"))
        #expect(Self.item(resource["component"])?["valueQuantity"]?["value"] == .integer(142))
        #expect(Self.item(resource["component"], 1)?["valueQuantity"]?["code"] == .string("mm[Hg]"))
        #expect(Self.item(resource["note"])?["text"] == .string("blood pressure lying 142/80"))
    }

    @Test(
        "a vital sign without a known unit stays words", arguments: ["weight 80", "oxygen 2 litres", "height 5 feet"])
    func words(text: String) throws {
        #expect(try Self.resource(ClinicalFact(.vital, text))["valueString"] == .string(text))
    }

    @Test(
        "what was denied is no condition, allergy, procedure, medication or order",
        arguments: [
            (ClinicalFact(.negative, "denies cough", details: ["name": "cough"]), "Observation"),
            (ClinicalFact(.complaint, "rash but no fever", details: ["name": "fever"]), "Observation"),
            (ClinicalFact(.medicalHistory, "no diabetes"), "Observation"),
            (ClinicalFact(.medicalHistory, "nil significant"), "Observation"),
            (ClinicalFact(.assessment, "no sign of pneumonia"), "Observation"),
            (ClinicalFact(.assessment, "pneumonia is unlikely"), "Observation"),
            (ClinicalFact(.assessment, "rule out pneumonia"), "Observation"),
            (ClinicalFact(.assessment, "negative for strep"), "Observation"),
            (ClinicalFact(.allergy, "not allergic to latex"), "Observation"),
            (ClinicalFact(.surgicalHistory, "never had surgery"), "Observation"),
            (ClinicalFact(.medication, "no aspirin", details: ["name": "aspirin"]), "Observation"),
            (ClinicalFact(.investigation, "no need for an x-ray"), "CarePlan"),
            (ClinicalFact(.allergy, "no known drug allergies"), "AllergyIntolerance"),
        ])
    func denied(fact: ClinicalFact, type: String) throws {
        let resource = try Self.resource(fact)
        #expect(resource["resourceType"] == .string(type))
        switch fact.kind {
        case .negative: #expect(resource["valueBoolean"] == .bool(false))
        case _ where type == "Observation":
            #expect(resource["valueString"] == .string(fact.text))
            #expect(resource["code"]?["text"]?.stringValue?.contains(fact.details["name"] ?? "fever") == false)
        default: break
        }
    }

    @Test(
        "a condition is named by the whole statement, with its doubts",
        arguments: ["worried about cancer", "possible cancer", "grandson had cancer"])
    func doubted(text: String) throws {
        let resource = try Self.resource(ClinicalFact(.complaint, text, details: ["name": "cancer"]))
        #expect(resource["code"]?["text"] == .string(text))
    }

    @Test("no statement gets a clinical or verification status, because none is said")
    func statuses() throws {
        let resource = try Self.resource(ClinicalFact(.assessment, "likely bronchitis"))
        #expect(resource["resourceType"] == .string("Condition"))
        #expect(resource["clinicalStatus"] == nil && resource["verificationStatus"] == nil)
    }

    @Test("an allergy names the substance, and is active as R4 requires")
    func allergy() throws {
        let resource = try Self.resource(ClinicalFact(.allergy, "allergic to penicillin"))
        #expect(resource["code"]?["text"] == .string("penicillin"))
        #expect(Self.item(resource["clinicalStatus"]?["coding"])?["code"] == .string("active"))
    }

    @Test(
        "a medication has its dose in UCUM and a status by its change",
        arguments: [(nil, "unknown"), ("stopped", "stopped"), ("started", "intended"), ("increased", "active")]
            as [(String?, String)])
    func medication(change: String?, status: String) throws {
        var details = ["name": "levothyroxine", "dose": "50 mcg", "frequency": "once a day"]
        details["change"] = change
        let resource = try Self.resource(ClinicalFact(.medication, "levothyroxine 50 mcg once a day", details: details))
        #expect(resource["status"] == .string(status))
        let dosage = Self.item(resource["dosage"])
        #expect(dosage?["text"] == .string("50 mcg once a day"))
        #expect(Self.item(dosage?["doseAndRate"])?["doseQuantity"]?["code"] == .string("ug"))
    }

    @Test("a dose in tablets has no code, as UCUM has none")
    func tablets() throws {
        let fact = ClinicalFact(.medication, "x 2 tablets", details: ["name": "x", "dose": "2 tablets"])
        let dose = Self.item(Self.item(try Self.resource(fact)["dosage"])?["doseAndRate"])?["doseQuantity"]
        #expect(dose?["unit"] == .string("tablets"))
        #expect(dose?["code"] == nil)
    }

    @Test(
        "vaccines are immunizations",
        arguments: [
            ("had the flu shot in October", "flu shot", "completed"),
            ("was vaccinated against covid last year", "covid", "completed"),
            ("never had a tetanus booster", "tetanus booster", "not-done"),
            ("had the hepatitis b vaccine", "hepatitis b vaccine", "completed"),
        ])
    func vaccines(text: String, name: String, status: String) throws {
        let resource = try Self.resource(ClinicalFact(.presentIllness, text))
        #expect(resource["resourceType"] == .string("Immunization"))
        #expect(resource["vaccineCode"]?["text"] == .string(name))
        #expect(resource["status"] == .string(status))
    }

    @Test(
        "a wished or mentioned vaccine is no immunization",
        arguments: ["wants the flu shot", "is due for a tetanus booster", "immunizations up to date"])
    func wishes(text: String) throws {
        let resource = try Self.resource(ClinicalFact(.medicalHistory, text))
        #expect(resource["resourceType"] == .string("Observation"))
    }

    @Test("other shots are no vaccines", arguments: ["had a cortisone shot in the knee", "drinks a shot of rum"])
    func shots(text: String) { #expect(Vaccination(text) == nil) }

    @Test("orders and plans are drafts")
    func orders() throws {
        let order = try Self.resource(ClinicalFact(.investigation, "order chest X-ray"))
        #expect(order["resourceType"] == .string("ServiceRequest"))
        #expect([order["status"], order["intent"]] == [.string("draft"), .string("plan")])
        #expect(try Self.resource(ClinicalFact(.advice, "rest"))["resourceType"] == .string("CarePlan"))
        let vaccine = try Self.resource(ClinicalFact(.plan, "give the flu shot"))
        #expect(vaccine["resourceType"] == .string("ServiceRequest"))
    }
}
