import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct OpenAITranscriberTests {
    private func recogniser(
        plainModels: Set<String> = [], saying answer: String? = nil
    ) async throws -> ServedRecogniser {
        let api = try await SpeechAPI(plainModels: plainModels)
        if let answer { api.say(answer) }
        return try ServedRecogniser(.openai, api)
    }

    private func speech(saying answer: String) async throws -> RecognisedSpeech {
        let recogniser = try await recogniser(saying: answer)
        let speech = try await recogniser.bare().transcribe(try recogniser.recording())
        #expect(recogniser.api.requests.count == 1)
        return speech
    }

    @Test("an OpenAI service gets the file, the key, the model, one language and the prompt, and its words have times")
    func options() async throws {
        let recogniser = try await recogniser()
        let transcriber = try recogniser.bare { service in
            service.settings.key = "secret-key"
            service.settings.model = "large"
            service.settings.liteModel = "tiny"
            service.settings.prompt = "Dr. Rao's clinic, Pune"
        }
        let speech = try await transcriber.transcribe(
            try recogniser.recording(languages: ["en-IN"], vocabulary: ["amlodipine", "metformin"]))
        #expect(speech.text == SpeechAPI.text)
        #expect(speech.words.map(\.text) == SpeechAPI.words)
        #expect(speech.words.map(\.start) == [0, 0.5, 1, 1.5, 2, 2.5, 3])
        _ = try await transcriber.transcribe(try recogniser.recording(languages: ["en-IN", "hi"], isLite: true))
        let requests = recogniser.api.requests
        try #require(requests.count == 2)
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(requests.map(\.target) == ["/v1/audio/transcriptions", "/v1/audio/transcriptions"])
        #expect(requests[0].header("Authorization") == "Bearer secret-key")
        let (first, second) = (try #require(requests[0].form), try #require(requests[1].form))
        #expect(first.file == recogniser.audio)
        #expect(first.fields["model"] == ["large"])
        #expect(first.fields["language"] == ["en"])
        #expect(first.fields["prompt"] == ["amlodipine, metformin, Dr. Rao's clinic, Pune"])
        #expect(first.fields["response_format"] == ["verbose_json"])
        #expect(first.fields["timestamp_granularities[]"] == ["word", "segment"])
        #expect(second.fields["model"] == ["tiny"])
        #expect(second.fields["language"] == nil, "the service detects one of two languages")
        #expect(second.fields["prompt"] == ["Dr. Rao's clinic, Pune"])
        try recogniser.expectNoFiles()
    }

    @Test("a prompt has as many words of the templates as fit into 600 characters before the configured prompt")
    func longPrompt() async throws {
        let recogniser = try await recogniser()
        let words = (0..<200).map { "word-\($0)" }
        _ = try await recogniser.bare { $0.settings.prompt = "Pune" }.transcribe(
            try recogniser.recording(vocabulary: words))
        let prompt = try #require(recogniser.api.requests.first?.form?.fields["prompt"]?.first)
        #expect(prompt.count <= 600)
        #expect(prompt.count > 580)
        #expect(prompt.hasPrefix("word-0, word-1, "))
        #expect(prompt.hasSuffix(", Pune"))
    }

    @Test("a model that refuses to give times is not asked for them again, and other models are")
    func plainModels() async throws {
        let recogniser = try await recogniser(plainModels: ["mini"])
        let transcriber = try recogniser.bare { service in
            service.settings.model = "large"
            service.settings.liteModel = "mini"
        }
        for isLite in [true, true, false] {
            let speech = try await transcriber.transcribe(try recogniser.recording(isLite: isLite))
            #expect(speech.text == SpeechAPI.text)
            #expect(speech.words.isEmpty == isLite)
        }
        let asked = recogniser.api.requests.compactMap(\.form).map {
            [$0.fields["model"], $0.fields["response_format"]].compactMap { $0?.first }
        }
        #expect(asked == [["mini", "verbose_json"], ["mini", "json"], ["mini", "json"], ["large", "verbose_json"]])
    }

    @Test(
        "odd members beside the text of an OpenAI answer do not lose the text",
        arguments: [
            #"{"text":"I have a fever","words":[{"word":"I"},{"word":"have","start":1,"end":2}]}"#,
            #"{"text":"I have a fever","words":[{"text":"I","start":"0","end":null}],"duration":"3.0"}"#,
            #"{"text":"I have a fever","words":"none","segments":[{"no_speech_prob":"high"},7]}"#,
            #"{"text":"I have a fever","language":7}"#,
        ])
    func oddMembers(answer: String) async throws {
        #expect(try await speech(saying: answer).text == "I have a fever")
    }

    @Test("segments with a high probability of silence and a low one of their words are dropped with their words")
    func inventedSegments() async throws {
        func segment(_ text: String, _ start: Int, _ silence: Double, _ confidence: Double) -> String {
            #"{"text":" \#(text)","start":\#(start),"end":\#(start + 1),"#
                + #""no_speech_prob":\#(silence),"avg_logprob":\#(confidence)}"#
        }
        let segments = [
            segment("I have a fever.", 0, 0.01, -0.2), segment("For three days.", 1, 0.7, -0.2),
            segment("Thank you for watching.", 2, 0.9, -1.4),
        ]
        let words = #"[{"word":"days.","start":1.5,"end":2},{"word":"watching.","start":2.5,"end":3}]"#
        let speech = try await speech(
            saying: #"{"text":"all of it","words":\#(words),"segments":[\#(segments.joined(separator: ","))]}"#)
        #expect(speech.text == "I have a fever. For three days.")
        #expect(speech.words.map(\.text) == ["days."])
    }

    @Test(
        "the language that an OpenAI service reports is a tag, whether the service gives a name or a tag",
        arguments: [("hindi", "hi"), ("English", "en"), ("ta", "ta"), ("unknown tongue", nil)] as [(String, String?)])
    func languages(reported: String, tag: String?) async throws {
        let speech = try await speech(saying: #"{"text":"mujhe fever hai","language":"\#(reported)","duration":3.0}"#)
        #expect(speech.language == tag)
    }

    @Test("an answer in plain text is the text of a recording")
    func plainText() async throws {
        let http = try await HTTPService { _ in .text(" I have a fever\n", type: "text/plain; charset=utf-8") }
        let recogniser = try await recogniser()
        let transcriber = try recogniser.bare { $0.baseURL = URL(string: "\(http.url)/v1") ?? $0.baseURL }
        #expect(try await transcriber.transcribe(try recogniser.recording()).text == "I have a fever")
    }

    @Test("the error with which a service refuses a recording is in the log on one line, without its end and the key")
    func refusal() async throws {
        let message = #"{"error": {"message": "unknown model: whisper-1 for the key sk-secret",\n "type": "x"}}"#
            .replacingOccurrences(of: #"\n"#, with: "\n")
        let http = try await HTTPService { _ in
            .text(message + String(repeating: "x", count: 400), status: 415)
        }
        let recogniser = try await recogniser()
        let transcriber = try recogniser.bare { service in
            service.baseURL = URL(string: "\(http.url)/v1") ?? service.baseURL
            service.settings.key = "sk-secret"
        }
        let failure = try #require(try await recogniser.failure(transcriber))
        let logged =
            "the service does not take the recording: 415: "
            + #"{"error": {"message": "unknown model: whisper-1 for the key …", "type": "x"}}xxx"#
        #expect(failure.logged.hasPrefix(logged), "\(failure.logged)")
        #expect(failure.logged.count < 400)
        #expect(!failure.reason.contains("unknown model"), "the reason alone has no words of the service")
    }
}
