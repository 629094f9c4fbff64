import Foundation
import ScribeDomain
import Testing

@testable import Engines

struct ConversationRulesTests {
    @Test(
        "the urgency classifier find red flags in an utterance",
        arguments: [
            ("I have chest pain since this morning", Urgency.Level.emergency), ("he has slurred speech", .emergency),
            ("I can't breathe", .emergency), ("I want to die", .emergency),
            ("the bleeding is heavy bleeding", .emergency),
            ("I have a high fever", .urgent), ("no fever but chest pain", .emergency),
        ])
    func urgent(text: String, level: Urgency.Level) {
        #expect(UrgencyClassifier.level(of: text) == level)
    }

    @Test(
        "symptoms that are denied, conditional, past or another person's have no urgency",
        arguments: [
            "I have no chest pain", "she denies chest pain or trouble breathing", "if you have chest pain come back",
            "I had a heart attack years ago", "history of seizure", "my father had a stroke", "good morning", "",
        ])
    func calm(text: String) {
        #expect(UrgencyClassifier.level(of: text) == nil)
    }

    @Test(
        "the urgency classifier find an emergency in everyday words, without punctuation, about any person present",
        arguments: [
            "my husband just collapsed and he's not responding",
            "Doctor: Have you had any chest pain?\nPatient: Yes, since this morning.",
            "I've been thinking about ending my life.",
            "um she's um having a seizure and it won't stop",
            "There's blood everywhere, I can't stop the bleeding.",
            "I think my baby stopped breathing",
            "seene mein bahut dard ho raha hai",
            "saans nahi aa rahi hai",
            "my face is drooping on the left and my words come out slurred",
            "I swallowed about forty tablets of paracetamol an hour ago",
            "this is the worst headache of my life it came on suddenly",
            "I just want to die",
            "she is thirty weeks pregnant and she's bleeding",
            "I can't feel my left arm and it's weak",
            "the crushing pain in my chest won't go away and I'm sweating",
            "he took an overdose",
            "I wish I was dead",
            "my wife won't wake up",
            "I don't want to live anymore",
            "my throat is swelling up after eating peanuts",
            "my right arm suddenly went weak",
            "I took the whole bottle of pills",
            "he is unresponsive",
            "I'm pregnant and bleeding", "my son just collapsed at the football match",
            "I used my spray and I still have crushing chest pain", "I was fine until I got this chest pain",
        ])
    func emergency(text: String) {
        #expect(UrgencyClassifier.level(of: text) == .emergency)
    }

    @Test(
        "questions, stories, fears and jokes about symptoms are no emergency",
        arguments: [
            "Doctor: Have you had any chest pain?\nPatient: No, nothing like that.",
            "My grandfather died of a heart attack.",
            "If you get chest pain at rest, go to the emergency room.",
            "I'm dying for a cup of tea.",
            "I don't have any thoughts of hurting myself.",
            "do you ever think about harming yourself no never",
            "I used to get seizures as a kid.",
            "Her epilepsy means she has had seizures since she was two, none lately.",
            "I cut my finger but the bleeding stopped.",
            "seene mein dard nahi hai bas khansi hai",
            "The leaflet says it can cause difficulty breathing.",
            "I've had a cold and a sore throat for three days.",
            "We watched a film where a man had a heart attack.",
            "the chest pain went away months ago",
            "These shoes are killing me.",
            "I nearly died of embarrassment.",
            "my hand goes numb at night when i sleep on it",
            "I take insulin for diabetes.",
            "No shortness of breath, no chest pain, no dizziness.",
            "he was unconscious for a minute after the accident in 2019",
            "Any chest pain or trouble breathing?\nNo.",
            "She had a stroke in 2015.", "I had my flu shot last week.",
            "The pain on my left side goes away when I rest.",
            "I have heartburn, it burns and the acid comes up.", "My hair is going grey.", "I can't open the jar.",
            "I have pain in my groin after football.", "The pain is running down my leg.", "My urine is foaming.",
            "I have a chest infection and I am sweating at night.", "My sugar goes down in the morning.",
            "The baby is coming in March.", "He hasn't come around to the idea.", "I got stung by a bee on my arm.",
            "What type of pain is it? I was vomiting after dinner.", "I was fine until the weekend.",
            "We ruled out a heart attack.",
            "That joke almost gave me a heart attack.",
        ])
    func noEmergency(text: String) {
        #expect(UrgencyClassifier.level(of: text) != .emergency)
    }

    @Test("the urgency classifier read an answer together with the question before it")
    func answers() {
        #expect(UrgencyClassifier.level(of: "Yes, since this morning.", after: "Any chest pain?") == .emergency)
        #expect(UrgencyClassifier.level(of: "No, never.", after: "Any chest pain?") == nil)
        #expect(UrgencyClassifier.level(of: "Yes.", after: "Any cough?") == nil)
        #expect(UrgencyClassifier.level(of: "Any chest pain? Do you smoke? Yes.") == nil)
        #expect(UrgencyClassifier.level(of: "any chest pain no do you smoke yes") == nil)
        #expect(
            UrgencyClassifier.level(of: "Doctor: Any chest pain, or is it the arm?\nPatient: Yes, chest.") == .emergency
        )
        #expect(UrgencyFeatures.isAnswer("yeah it started today") && !UrgencyFeatures.isAnswer("my knee hurts"))
    }

    @Test(
        "a speaker's introduction gives the speaker's name",
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
        "a sentence that is no introduction gives no name",
        arguments: [
            "my name is", "I am fine", "this is the plan", "I'm Dr", "", "I'm OK.", "what is my name", "I AM HERE",
        ])
    func nobody(text: String) {
        #expect(SpeakerIntroduction.name(in: text) == nil)
    }

    @Test(
        "a conversation's summary has title, overview, action items and an appointment, and lasting facts are memories")
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

    @Test(
        "a task in a conversation becomes an action item, and a date to meet becomes an event",
        arguments: [
            ("I'll send the report by Friday.", ["Send the report by Friday"], []),
            ("Doctor: Let's schedule an MRI.", ["Schedule an MRI"], []),
            ("I take metformin every day.", [], []),
            ("See you on Tuesday at 10 am.", ["See patient on Tuesday at 10 am"], [1_778_580_000.0]),
            ("We meet tomorrow at 2 pm.", [], [1_778_508_000.0]),
        ])
    func plans(text: String, items: [String], starts: [Double]) {
        // Sunday, 2026-05-10 09:19 UTC
        let date = Date(timeIntervalSince1970: 1_778_404_753)
        let summary = ConversationSummary.summary(FactExtraction.facts(in: text), of: text, at: date)
        #expect(Set(items).isSubset(of: summary.actionItems), "\(summary.actionItems)")
        #expect(items.isEmpty == summary.actionItems.isEmpty)
        #expect(summary.events.map(\.start.timeIntervalSince1970) == starts)
    }

    @Test("a long conversation without medical facts has its beginning as overview")
    func longSmallTalk() {
        let text = String(repeating: "We went to the park and fed the ducks. ", count: 40)
        let overview = ConversationSummary.summary([], of: text, at: Date(timeIntervalSince1970: 0)).overview
        #expect(overview.count <= 201 && text.hasPrefix(overview.dropLast()))
    }

    @Test("a short conversation without medical facts has its text as overview")
    func smallTalk() {
        let text = "We went to the park and fed the ducks and then it rained so we went home again"
        let summary = ConversationSummary.summary([], of: text, at: Date(timeIntervalSince1970: 0))
        #expect(summary.title == "We went to the park and")
        #expect(summary.overview == text)
        #expect(summary.category == "other")
        #expect(summary.actionItems.isEmpty)
    }

    @Test("a conversation gives a limited number of memories, each once")
    func manyMemories() {
        let text = (0..<1000).map { "I like tea number \($0 / 2)." }.joined(separator: " ")
        let memories = ConversationSummary.memories([], in: text).map(\.content)
        #expect(memories.count == Limits.memoriesOfConversation)
        #expect(Set(memories).count == memories.count)
    }
}
