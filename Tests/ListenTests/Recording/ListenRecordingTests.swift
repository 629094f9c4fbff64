import Engines
import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

struct ListenRecordingTests {
    /// Says what it is told of every recording.
    private struct Scripted: Transcriber {
        let name = "scripted"
        let result: Result<RecognisedSpeech, EngineFailure>

        func transcribe(_ recording: Recording) async throws -> RecognisedSpeech { try result.get() }
    }

    private static let key: HTTPFields = [.authorization: "Token org_dev_key"]

    @Test("a posted recording is answered in Deepgram's shape, and its file is removed", arguments: Transport.allCases)
    func recording(transport: Transport) async throws {
        let server = try TestServer()
        try await server.run(transport) { client in
            let answer = try await client.send(
                .post, "/v1/listen?punctuate=true", headers: Self.key + [.contentType: "application/octet-stream"],
                body: TestAudio.wav(seconds: 6))
            #expect(answer.status == 200)
            let request = try answer["metadata.request_id"]
            #expect(answer.headers[.init("dg-request-id")!] == request)
            let transcript = try answer["results.channels.0.alternatives.0.transcript"]
            #expect(transcript.split(separator: " ").count > 3)
            let files = try server.objectFiles()
            #expect(files.isEmpty)
        }
    }

    @Test("the answer to a posted recording names the language only if the query asks for it", .covers("L-61", "L-62"))
    func languages() async throws {
        try await TestServer().run { client in
            func heard(_ query: String) async throws -> TestAnswer {
                try await client.send(.post, "/v1/listen?\(query)", headers: Self.key, body: TestAudio.wav(seconds: 6))
            }
            let detected = try await heard("detect_language=true")
            #expect(try detected["results.channels.0.detected_language"] == "en")
            #expect(detected.has("results.channels.0.language_confidence"))
            #expect(!detected.has("results.channels.0.alternatives.0.languages"))
            let several = try await heard("language=multi")
            #expect(try several["results.channels.0.alternatives.0.languages.0"] == "en")
            #expect(try several["results.channels.0.alternatives.0.words.0.language"] == "en")
            let plain = try await heard("language=hi")
            #expect(!plain.has("results.channels.0.detected_language"))
            #expect(try await heard("detect_language=perhaps%20so").status == 400)
        }
    }

    @Test("the languages that a recogniser reports are in the answer, the most frequent of the words first")
    func recognisedLanguages() async throws {
        let words = zip(["mujhe", "fever", "hai"], ["hi", "en", "hi"]).enumerated().map { place, word in
            TimedWord(text: word.0, start: Double(place), end: Double(place) + 0.5, language: word.1)
        }
        var speech = RecognisedSpeech(text: "mujhe fever hai", words: words)
        speech.language = "hi"
        var server = try TestServer()
        server.transcriber = Scripted(result: .success(speech))
        try await server.run { client in
            func heard(_ query: String) async throws -> TestAnswer {
                try await client.send(.post, "/v1/listen?\(query)", headers: Self.key, body: TestAudio.wav(seconds: 3))
            }
            let detected = try await heard("detect_language=true")
            #expect(try detected["results.channels.0.detected_language"] == "hi")
            let several = try await heard("language=multi")
            let best = "results.channels.0.alternatives.0"
            let languages = try [0, 1].map { try several["\(best).languages.\($0)"] }
            #expect(languages == ["hi", "en"])
            #expect(!several.has("\(best).languages.2"))
            let spoken = try [0, 1, 2].map { try several["\(best).words.\($0).language"] }
            #expect(spoken == ["hi", "en", "hi"])
        }
    }

    @Test("a posted recording beyond its business's storage is refused in Deepgram's words")
    func quota() async throws {
        var server = try TestServer()
        server.configuration.quotas.storedBytes = 10_000
        try await server.run { client in
            let answer = try await client.send(
                .post, "/v1/listen", headers: Self.key, body: TestAudio.wav(seconds: 6))
            #expect(answer.status == 402)
            #expect(try answer["err_code"] == "ASR_PAYMENT_REQUIRED")
            let other = try await client.send(
                .post, "/v1/listen", headers: [.authorization: "Token org_dev_key_2"], body: Data(count: 9000))
            #expect(other.status == 400, "it has its own")
        }
    }

    @Test("a posted recording's words keep times and speakers, and utterances follow the speakers")
    func turns() async throws {
        var server = try TestServer()
        server.transcriber = Scripted(
            result: .success(
                RecognisedSpeech(
                    text: "Any fever? No.\nSince Monday.",
                    words: [
                        TimedWord(text: "Any", start: 0.1, end: 0.3, speaker: 0),
                        TimedWord(text: "fever?", start: 0.3, end: 0.6, speaker: 0),
                        TimedWord(text: "No.", start: 0.7, end: 0.9, speaker: 1),
                        TimedWord(text: "Since", start: 2.1, end: 2.3, speaker: 1),
                        TimedWord(text: "Monday.", start: 2.3, end: 2.6, speaker: 1),
                    ])))
        try await server.run { client in
            func ask(_ query: String) async throws -> TestAnswer {
                try await client.send(
                    .post, "/v1/listen?utterances=true&paragraphs=true&\(query)", headers: Self.key,
                    body: TestAudio.wav(seconds: 3))
            }
            let told = try await ask("smart_format=true&diarize=true")
            let spoken = try Self.utterances(of: told)
            #expect(spoken == ["Any fever?", "No.", "Since Monday."])
            let paragraphs = try told["results.channels.0.alternatives.0.paragraphs.transcript"]
            #expect(paragraphs == "Any fever?\n\nNo.\n\nSince Monday.")
            let joined = try await ask("utt_split=2&diarize=true")
            let bare = try Self.utterances(of: joined)
            #expect(bare == ["any fever", "no since monday"])
        }
    }

    private static func utterances(of answer: TestAnswer) throws -> [String] {
        struct Body: Decodable {
            struct Results: Decodable {
                struct Utterance: Decodable { let transcript: String }
                let utterances: [Utterance]
            }
            let results: Results
        }
        return try JSONDecoder().decode(Body.self, from: answer.body).results.utterances.map(\.transcript)
    }

    @Test("a failing recogniser is a 5xx for a posted recording, and undecodable audio is a 400")
    func failures() async throws {
        let failures: [(EngineFailure, Int)] = [
            (EngineFailure(.transcriptionFailed, "broken"), 500),
            (EngineFailure(.transcriptionTimeout, "late"), 504),
            (EngineFailure(.transcriptionFailed, "left alone", retryAfter: 3, origin: .refusal), 503),
            (EngineFailure(.undecodableAudio, "nothing in it"), 400),
        ]
        for (failure, status) in failures {
            var server = try TestServer()
            server.transcriber = Scripted(result: .failure(failure))
            try await server.run { [server] client in
                let answer = try await client.send(
                    .post, "/v1/listen", headers: Self.key, body: TestAudio.wav(seconds: 1))
                #expect(answer.status == status)
                #expect(answer.headers[.retryAfter] == (status == 503 ? "3" : nil))
                let files = try server.objectFiles()
                #expect(files.isEmpty)
            }
        }
    }

    @Test(
        "an invalid query of a posted recording is refused with the name of the parameter",
        arguments: [
            ("encoding=amr-nb", "encoding"), ("language=--option", "language"), ("utt_split=nan", "utt_split"),
            ("callback=example.com", "callback"), ("encoding=linear16&sample_rate=1", "sample_rate"),
        ])
    func refusals(query: String, field: String) async throws {
        try await TestServer().run { client in
            let answer = try await client.send(
                .post, "/v1/listen?\(query)", headers: Self.key, body: TestAudio.wav(seconds: 1))
            #expect(answer.status == 400)
            let message = try answer["err_msg"]
            #expect(message.contains(field))
        }
    }

    @Test("a posted recording is refused for a forbidden URL, its length or its key before it is read")
    func unread() async throws {
        try await TestServer().run { client in
            let url = try await client.post(
                "/v1/listen", #"{"url": "http://169.254.169.254/"}"#,
                headers: Self.key + [.contentType: "application/json"])
            #expect(url.status == 400)
            let huge = try await client.send(
                .post, "/v1/listen", headers: Self.key + [.contentLength: "600000000"])
            #expect(huge.status == 413)
            let stranger = try await client.send(
                .post, "/v1/listen", headers: [.authorization: "Token wrong"], body: TestAudio.wav(seconds: 1))
            #expect(stranger.status == 401)
        }
    }

    @Test("a URL to the server itself or to a private network is refused as a recording")
    func forbidden() async throws {
        var server = try TestServer()
        server.configuration.host = "0.0.0.0"
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        try await server.run { client in
            for url in [
                "http://127.0.0.1:81/", "http://localhost:81/", "http://2130706433:81/", "http://[::ffff:7f00:1]:81/",
                "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/x.wav",
            ] {
                let answer = try await client.send(
                    .post, "/v1/listen", headers: Self.key + [.contentType: "application/json"],
                    body: Data(#"{"url":"\#(url)"}"#.utf8))
                #expect(answer.status == 400)
                let code = try answer["err_code"]
                #expect(code == "REMOTE_CONTENT_ERROR", "\(url)")
                let message = try answer["err_msg"]
                #expect(message.contains("outbound-allow"), "\(url)")
            }
        }
    }
}
