import Foundation
import ScribeDomain
import Testing

struct AmbientTermsTests {
    private func segment(_ recording: String, at seconds: Double, _ lengths: Double...) -> AmbientSegment {
        AmbientSegment(
            recording: recording, startedAt: Date(timeIntervalSince1970: seconds),
            files: lengths.enumerated().map { .init(name: AmbientSegment.fileName($0 + 1, of: recording), seconds: $1) }
        )
    }

    @Test(
        "stretches are one recording in the order of their starts; of equal starts the longest counts, else the first")
    func recorded() {
        let segments = [
            segment("c", at: 60, 20, 5), segment("a", at: 0, 10), segment("b", at: 30, 7), segment("b2", at: 30, 7),
            segment("a2", at: 0, 20, 1), segment("a3", at: 0), segment("d", at: 10_000_000),
        ]
        #expect(segments.recorded.map(\.recording) == ["a2", "b", "c"])
        let chunks = segments.recorded.chunks
        #expect(chunks.files == ["a2-000001.wav", "a2-000002.wav", "b-000001.wav", "c-000001.wav", "c-000002.wav"])
        #expect(chunks.times["b-000001.wav"] == ChunkTimes(start: 21, end: 28))
        #expect(chunks.times["c-000002.wav"] == ChunkTimes(start: 48, end: 53))
        #expect([AmbientSegment]().recorded.isEmpty)
    }

    @Test("files of a stretch are named in their order as texts")
    func names() {
        let names = [1, 2, 9, 10, 99_999, 100_000].map { AmbientSegment.fileName($0, of: "r") }
        #expect(names == names.sorted())
    }

    @Test("there are 35 sections and 120 specialties, each once, and each can be found")
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

    @Test("a day is one of the calendar")
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

    @Test("what one section names is not told under a wider one, and what has none is told with the illness")
    func template() throws {
        var terms = AmbientTerms(encounter: "v")
        func kinds(_ codes: [String]) throws -> [String: [ClinicalFact.Kind]] {
            let body = JSONValue.object(["sections": .array(codes.map { .object(["loinc": .string($0)]) })])
            terms.context = AmbientContext.empty.merged(with: try .init(body, today: Date(timeIntervalSince1970: 0)))
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
