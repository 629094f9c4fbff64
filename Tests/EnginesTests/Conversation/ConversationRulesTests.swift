import Foundation
import ScribeDomain
import Testing

@testable import Engines

struct ConversationRulesTests {
    @Test(
        "red flags are found",
        arguments: [
            ("I have chest pain since this morning", Urgency.Level.emergency), ("he has slurred speech", .emergency),
            ("I can't breathe", .emergency), ("I want to die", .emergency),
            ("the bleeding is heavy bleeding", .emergency),
            ("I have a high fever", .urgent), ("no fever but chest pain", .emergency),
        ])
    func urgent(text: String, level: Urgency.Level) {
        #expect(UrgencyRules.level(of: text) == level)
    }

    @Test(
        "what is denied, supposed, past or somebody else's is none",
        arguments: [
            "I have no chest pain", "she denies chest pain or trouble breathing", "if you have chest pain come back",
            "I had a heart attack years ago", "history of seizure", "my father had a stroke", "good morning", "",
        ])
    func calm(text: String) {
        #expect(UrgencyRules.level(of: text) == nil)
    }

    @Test(
        "who says a name is introduced",
        arguments: [
            ("Hello, my name is Asha.", "Asha"), ("I'm Dr Rao and I will see you", "Dr Rao"),
            ("good morning i am doctor meera", "Dr Meera"), ("This is Dr. Anil Kumar speaking", "Dr Anil Kumar"),
            ("my name is Dr Lee", "Dr Lee"), ("Hi, I'm John.", "John"), ("John is my name.", "John"),
            ("Well, I am Priya, the nurse", "Priya"),
        ])
    func introduced(text: String, name: String) {
        #expect(SpeakerIntroduction.name(in: text) == name)
    }

    @Test(
        "nobody is introduced by accident",
        arguments: [
            "my name is", "I am fine", "this is the plan", "I'm Dr", "", "I'm OK.", "what is my name", "I AM HERE",
        ])
    func nobody(text: String) {
        #expect(SpeakerIntroduction.name(in: text) == nil)
    }

    @Test("a visit becomes title, overview, action items and an appointment, and what outlasts it is remembered")
    func summary() async throws {
        let transcript = """
            I have had a dry cough since Monday. I am allergic to penicillin. I take metformin every day. I like long walks.
            Take ibuprofen for five days. Drink plenty of water. Come back in two weeks.
            """
        let facts = FactExtraction.facts(in: transcript)
        let date = Date(timeIntervalSince1970: 1_778_404_353)
        let summary = ConversationSummary.summary(facts, of: transcript, at: date)
        #expect(summary.title == "Dry cough since Monday")
        #expect(summary.overview.contains("Allergic to penicillin"))
        #expect(summary.category == "health")
        #expect(summary.actionItems.contains("Drink plenty of water"))
        #expect(summary.events.map(\.start) == [date.addingTimeInterval(14 * 86_400)])
        let memories = ConversationSummary.memories(facts, in: transcript)
        #expect(memories.map(\.content).contains("Allergic to penicillin"))
        #expect(memories.contains { $0.content == "I like long walks" && $0.category == "interests" })
        #expect(memories.contains { $0.content.lowercased().contains("metformin") })
        #expect(!memories.contains { $0.content.lowercased().contains("ibuprofen") }, "a course ends")
    }

    @Test("small talk is told as it was said")
    func smallTalk() {
        let text = "We went to the park and fed the ducks and then it rained so we went home again"
        let summary = ConversationSummary.summary([], of: text, at: Date(timeIntervalSince1970: 0))
        #expect(summary.title == "We went to the park and")
        #expect(summary.overview == text)
        #expect(summary.category == "other")
        #expect(summary.actionItems.isEmpty)
    }

    @Test("of one conversation no more is remembered than is worth it, and nothing twice")
    func manyMemories() {
        let text = (0..<1000).map { "I like tea number \($0 / 2)." }.joined(separator: " ")
        let memories = ConversationSummary.memories([], in: text).map(\.content)
        #expect(memories.count == Limits.memoriesOfConversation)
        #expect(Set(memories).count == memories.count)
    }
}
