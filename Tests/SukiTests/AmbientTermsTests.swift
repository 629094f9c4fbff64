import Basics
import Foundation
import ScribeDomain
import Testing

@testable import Suki

struct AmbientTermsTests {
    @Test("the ambient API's 35 sections and 120 specialties are unique and found by code and title")
    func lists() {
        #expect(AmbientSection.all.count == 35)
        #expect(Set(AmbientSection.all.map(\.code)).count == 35)
        #expect(
            AmbientSection.all.allSatisfy {
                AmbientSection[$0.code] == $0 && AmbientSection.titled($0.title.uppercased()) == $0
            })
        #expect(AmbientSpecialty.all.count == 120)
        #expect(Set(AmbientSpecialty.all).count == 120)
        #expect(AmbientSpecialty.named("family_medicine") == "FAMILY_MEDICINE")
    }

    @Test("a date of the ambient API must be a day of the calendar")
    func days() {
        for text in ["2000-02-29", "2024-02-29", "1999-12-31", "0001-01-01", "9999-12-31"] {
            #expect(CalendarDay(text) != nil, "\(text)")
        }
        for text in [
            "1900-02-29", "2023-02-29", "2024-02-30", "2024-13-01", "2024-00-01", "2024-01-00", "2024-1-1", "24-01-01",
            "2024-01-01T00:00:00Z", "", "----", "0000-01-01", "２０２４-01-01", "2024-04-31",
        ] { #expect(CalendarDay(text) == nil, "\(text)") }
        let midnight = Date(timeIntervalSince1970: 1_778_371_200)  // 2026-05-10T00:00:00Z
        #expect(CalendarDay("2026-05-10") == CalendarDay(midnight))
    }

    @Test("an ambient section gets the facts of narrower sections only if those are not requested")
    func template() throws {
        var terms = AmbientTerms(encounter: "v")
        func kinds(_ codes: [String]) throws -> [String: [ClinicalFact.Kind]] {
            let body = JSONValue.object(["sections": .array(codes.map { .object(["loinc": .string($0)]) })])
            let change = try AmbientContext.checked(body, today: Date(timeIntervalSince1970: 0))
            terms.context = AmbientContext.empty.merged(with: change)
            return Dictionary(
                uniqueKeysWithValues: terms.template(AmbientTerms.template).sections.map { ($0.title, $0.facts) })
        }
        let illness: [ClinicalFact.Kind] = [.complaint, .presentIllness, .negative]
        let histories: [ClinicalFact.Kind] = [.medicalHistory, .surgicalHistory, .familyHistory, .socialHistory]
        #expect(try kinds(["10164-2"])["History of Present Illness"] == illness + histories + [.allergy])
        #expect(try kinds(["10164-2", "48765-2"])["History of Present Illness"] == illness + histories)
        #expect(
            try kinds(["10164-2", "11348-0", "48765-2"])["History of Present Illness"]
                == illness + histories.dropFirst())
        #expect(try kinds(["29545-1"])["Physical Exam"] == [.examination, .vital, .result])
        let exam = ClinicalFact(.vital, "blood pressure 130/80")
        _ = try kinds(["29545-1", "8716-3"])
        let sections = terms.template(AmbientTerms.template).sections
        #expect(sections.map { terms.template(AmbientTerms.template).takes(exam, under: $0) } == [false, true])
        #expect(AmbientTerms(encounter: "v").template(AmbientTerms.template).sections.count == 4)
    }
}
