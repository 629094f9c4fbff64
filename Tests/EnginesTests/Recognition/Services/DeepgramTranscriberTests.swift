import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct DeepgramTranscriberTests {
    private func speech(saying answer: String) async throws -> RecognisedSpeech {
        let api = try await SpeechAPI()
        api.say(answer)
        let recogniser = try ServedRecogniser(.deepgram, api)
        let speech = try await recogniser.bare().transcribe(try recogniser.recording())
        #expect(api.requests.count == 1)
        return speech
    }

    /// Answer with one channel.
    /// - Parameters:
    ///   - more: further members of its best alternative.
    ///   - rest: further members of the results.
    private static func answer(_ more: String = "", channel: String = "", rest: String = "") -> String {
        #"{"results":{"channels":[{"alternatives":[{"transcript":"I have a fever"\#(more)}]\#(channel)}]\#(rest)}}"#
    }

    @Test("a Deepgram service gets the file, the key, the model, the language and the vocabulary")
    func options() async throws {
        let recogniser = try ServedRecogniser(.deepgram, try await SpeechAPI())
        let transcriber = try recogniser.bare { service in
            service.settings.key = "secret-key"
            service.settings.model = "large"
            service.settings.liteModel = "nova-3-tiny"
            service.settings.prompt = "Dr. Rao's clinic, Pune"
        }
        let speech = try await transcriber.transcribe(
            try recogniser.recording(languages: ["en-IN"], vocabulary: ["amlodipine", "Pune"]))
        #expect(speech.text == SpeechAPI.text)
        #expect(speech.words.map(\.text) == SpeechAPI.words)
        #expect(speech.words.map(\.start) == [0, 0.5, 1, 1.5, 2, 2.5, 3])
        _ = try await transcriber.transcribe(try recogniser.recording(languages: ["en-IN", "hi"], isLite: true))
        _ = try await transcriber.transcribe(try recogniser.recording())
        let requests = recogniser.api.requests
        try #require(requests.count == 3)
        #expect(requests.map(\.method) == ["POST", "POST", "POST"])
        #expect(requests.map(\.path) == ["/v1/listen", "/v1/listen", "/v1/listen"])
        #expect(requests[0].body == recogniser.audio)
        #expect(requests[0].header("Authorization") == "Token secret-key")
        #expect(requests[0].header("Content-Type") == "audio/wav")
        #expect(requests.map { $0.query("model") } == [["large"], ["nova-3-tiny"], ["large"]])
        #expect(requests.map { $0.query("language") } == [["en-IN"], ["multi"], []])
        #expect(requests.map { $0.query("detect_language") } == [[], [], ["true"]])
        #expect(requests[0].query("keywords") == ["Dr. Rao's clinic", "Pune", "amlodipine"])
        #expect(requests[1].query("keyterm") == ["Dr. Rao's clinic", "Pune"])
        #expect(requests[1].query("keywords") == [])
    }

    @Test(
        "odd members beside the text of a Deepgram answer do not lose the text",
        arguments: [
            answer(#","words":[{"word":"I","start":0}]"#),
            answer(#","words":[{"word":"I","start":0,"end":1,"speaker":"A"}],"confidence":"high""#),
            answer(rest: #","utterances":[{"speaker":0},{"speaker":1}]"#),
            answer(channel: #","detected_language":7"#),
        ])
    func oddMembers(answer: String) async throws {
        #expect(try await speech(saying: answer).text == "I have a fever")
    }

    @Test("words of a Deepgram answer keep their languages, and a channel keeps the detected one")
    func languages() async throws {
        let words = zip(["mujhe", "fever", "hai"], ["hi", "en", "hi"]).enumerated().map { place, word in
            #"{"word":"\#(word.0)","start":\#(place),"end":\#(place + 1),"language":"\#(word.1)"}"#
        }
        let speech = try await speech(
            saying: Self.answer(
                #","words":[\#(words.joined(separator: ","))]"#, channel: #","detected_language":"hi""#))
        #expect(speech.words.map(\.language) == ["hi", "en", "hi"])
        #expect(speech.language == "hi")
    }

    @Test("the turns of two speakers are lines, and a low confidence is a warning")
    func turns() async throws {
        let utterances = #"[{"transcript":"Any fever?","speaker":0},{"transcript":"No.","speaker":1}]"#
        let speech = try await speech(
            saying: Self.answer(#","confidence":0.4"#, rest: #","utterances":\#(utterances)"#))
        #expect(speech.text == "Any fever?\nNo.")
        #expect(speech.warnings.map(\.code) == [.lowConfidence])
        #expect(speech.confidence == 0.4)
    }
}
