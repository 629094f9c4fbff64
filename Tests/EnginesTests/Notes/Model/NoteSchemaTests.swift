import Basics
import ScribeDomain
import Testing

@testable import Engines

struct NoteSchemaTests {
    private func template(_ format: Template.Format, _ sections: [Template.Section]) -> Template {
        Template(id: .init("t"), name: "T", format: format, bucket: .custom, sections: sections)
    }

    private func schema(_ format: Template.Format) -> NoteSchema {
        NoteSchema(
            template(
                format,
                [
                    .init(title: "Symptoms", facts: [.complaint]), .init(title: "Medications", facts: [.medication]),
                    .init(title: "Plan", facts: [.investigation, .referral, .plan]),
                ]))
    }

    private func value(_ text: String) throws -> JSONValue { try #require(JSONDocument.written(text)) }

    @Test(
        "every object of a schema requires all its properties and allows no others, as strict outputs demand",
        arguments: [Template.Format.markdown, .json, .ekaEMR, .fhir])
    func strict(format: Template.Format) throws {
        var objects = 0
        func check(_ value: JSONValue) {
            if let properties = value["properties"], case .object(let members) = properties {
                objects += 1
                #expect(value["additionalProperties"] == .bool(false))
                #expect(Set(value["required"]?.arrayValue?.compactMap(\.stringValue) ?? []) == Set(members.keys))
            }
            switch value {
            case .object(let members): members.values.forEach(check)
            case .array(let values): values.forEach(check)
            case .null, .bool, .integer, .number, .digits, .string: break
            }
        }
        check(try value(String(decoding: schema(format).json.bytes, as: UTF8.self)))
        #expect(objects == (format == .markdown || format == .json ? 1 : 4))
    }

    @Test("sections are named by the ASCII words of their titles, and by their number where those fail")
    func keys() {
        let titles = ["Chief Complaints", "Follow-up", "योजना", "chief complaints!", "Plan (A/B)", "Section 7", "योजना"]
        let schema = NoteSchema(template(.markdown, titles.map { .init(title: $0, facts: []) }))
        #expect(
            schema.keys == [
                "chief_complaints", "follow_up", "section_3", "section_4", "plan_a_b", "section_7", "section_8",
            ])
    }

    @Test("an answer's statements are read with white space joined, and empty ones are left out")
    func sentences() throws {
        let answer = try value(#"{"symptoms": ["Cough\n for three  days", "  "], "medications": null, "plan": []}"#)
        let read = try schema(.markdown).statements(in: answer)
        #expect(read.map { $0.map(\.text) } == [["Cough for three days"], [], []])
    }

    @Test("records have the named parts of a fact, without those that are null")
    func records() throws {
        let answer = try value(
            #"""
            {"symptoms": [{"name": "cough"}], "plan": null,
             "medications": [{"name": "ibuprofen", "dose": "400 mg", "frequency": null, "duration": ""}]}
            """#)
        let read = try schema(.ekaEMR).statements(in: answer)
        #expect(read[0] == [.init(text: "cough", details: ["name": "cough"])])
        #expect(read[1] == [.init(text: "ibuprofen", details: ["name": "ibuprofen", "dose": "400 mg"])])
        #expect(read[1][0].words == "ibuprofen, 400 mg")
    }

    @Test("facts of FHIR have one of the section's kinds")
    func facts() throws {
        func answer(kind: String) throws -> JSONValue {
            try value(
                #"{"symptoms": null, "medications": null, "plan": [{"kind": "\#(kind)", "text": "X-ray", "name": null}]}"#
            )
        }
        let read = try schema(.fhir).statements(in: try answer(kind: "investigation"))
        #expect(read[2] == [.init(text: "X-ray", kind: .investigation)])
        #expect(throws: NoteSchema.Mismatch.self) { try schema(.fhir).statements(in: try answer(kind: "allergy")) }
    }

    @Test(
        "an answer that does not follow the schema is refused, with a reason",
        arguments: [
            ("[]", "no JSON object"), ("{}", "symptoms is missing"),
            (#"{"symptoms": [], "medications": [], "plan": [], "more": 1}"#, "properties that the schema lacks"),
            (#"{"symptoms": "cough", "medications": [], "plan": []}"#, "symptoms must be an array"),
            (#"{"symptoms": [1], "medications": [], "plan": []}"#, "element of symptoms must be a string"),
            (#"{"symptoms": [{"name": "c"}], "medications": [], "plan": []}"#, "must be a string"),
            (#"{"symptoms": null, "medications": null, "plan": [["nested"]]}"#, "element of plan"),
        ])
    func mismatches(answer: String, reason: String) throws {
        let answer = try value(answer)
        let schema = schema(.markdown)
        #expect { try schema.statements(in: answer) } throws: {
            ($0 as? NoteSchema.Mismatch)?.problem.contains(reason) ?? false
        }
    }

    @Test("a section without end and a text without end are refused")
    func limits() throws {
        let schema = NoteSchema(template(.markdown, [.init(title: "Plan", facts: [])]))
        let many = JSONValue.object(["plan": .array(Array(repeating: .string("x"), count: 201))])
        let long = JSONValue.object(["plan": .array([.string(String(repeating: "x", count: 2001))])])
        for answer in [many, long] {
            #expect(throws: NoteSchema.Mismatch.self) { try schema.statements(in: answer) }
        }
    }
}
