import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Checks whether a speech service is up.
struct SpeechServiceProbeTests {
    /// Recogniser of a service at a URL.
    private func transcriber(
        _ kind: ServedRecogniser.Kind, _ url: String, connectTime: Duration = timeOfATest, key: String? = nil
    ) async throws -> any Transcriber {
        let url = try #require(URL(string: url))
        return try ServedRecogniser(kind, try await SpeechAPI()).bare(connectTime: connectTime) { service in
            service.baseURL = url
            service.settings.key = key
        }
    }

    @Test(
        "any answer to a request for the list of models shows that an OpenAI service is up, but errors of a gateway",
        arguments: [
            (200, "{}", nil), (404, "nothing here", nil), (405, "", nil), (501, "", nil),
            (401, "the key sk-secret is wrong", "401: the key … is wrong"), (403, "", "403"),
            (502, "bad gateway\n", "502: bad gateway"), (500, "", "500"), (302, "", "302"),
        ] as [(Int, String, String?)])
    func openAI(status: Int, text: String, failure: String?) async throws {
        try await withinTheTimeOfATest {
            let http = try await HTTPService { _ in .text(text, status: status) }
            let transcriber = try await transcriber(.openai, "\(http.url)/v1", key: "sk-secret")
            let expected = failure.map { FailedProbe(asked: "GET \(http.url)/v1/models", answer: $0) }
            #expect(await transcriber.probe() == expected)
            #expect(http.requests.map { "\($0.method) \($0.target)" } == ["GET /v1/models"])
            #expect(http.requests.first?.header("Authorization") == "Bearer sk-secret")
        }
    }

    @Test("the log of a failed check has the address without user, password and query")
    func secrets() async throws {
        try await withinTheTimeOfATest {
            let http = try await HTTPService { _ in .text("", status: 503) }
            let transcriber = try await transcriber(
                .openai, "http://user:secret@127.0.0.1:\(http.port)/v1?token=secret")
            #expect(await transcriber.probe()?.asked == "GET http://127.0.0.1:\(http.port)/v1/models")
        }
    }

    @Test("a check of Deepgram connects and sends no request, which would be paid for")
    func deepgram() async throws {
        try await withinTheTimeOfATest {
            let http = try await HTTPService { _ in .close }
            #expect(try await transcriber(.deepgram, http.url).probe() == nil)
            #expect(http.requests.isEmpty)
            let port = try RefusingPort()
            let failed = try #require(
                try await transcriber(.deepgram, "http://127.0.0.1:\(port.number)").probe())
            #expect(failed.asked == "a TCP connection to 127.0.0.1:\(port.number)")
            #expect(failed.answer.lowercased().contains("refused"), "\(failed.answer)")
        }
    }

    @Test("a check of an OpenAI service that refuses connections fails")
    func refusedConnection() async throws {
        try await withinTheTimeOfATest {
            let port = try RefusingPort()
            let url = "http://127.0.0.1:\(port.number)/v1"
            let failed = try #require(
                try await transcriber(.openai, url, connectTime: .milliseconds(20)).probe())
            #expect(failed.asked == "GET \(url)/models")
            #expect(!failed.answer.isEmpty)
        }
    }

    @Test("a check of a program fails if the program is not there any more")
    func command() async throws {
        let folder = try TemporaryFolder()
        let program = try folder.write(Data("#!/bin/sh\n".utf8), as: "program")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let transcriber = try CommandTranscriber(
            commandLine: "\(program) {file}",
            temporary: TemporaryFiles(folder: folder.path, identifiers: .counting(), files: .singleton),
            timeLimit: timeOfATest, clock: ManualClock().clock, files: .singleton)
        #expect(await transcriber.probe() == nil)
        try FileManager.default.removeItem(atPath: program)
        #expect(await transcriber.probe() == FailedProbe(asked: "the program '\(program)'", answer: "it is not there"))
    }

    @Test(
        "a service with a certificate of an unknown authority is not asked, and one of an added authority is",
        arguments: [ServedRecogniser.Kind.openai, .deepgram])
    func authorities(kind: ServedRecogniser.Kind) async throws {
        try await withinTheTimeOfATest {
            let authority = try TestAuthority()
            let http = try await HTTPService(tls: authority.context) { request in
                request.method == "GET" ? .text("{}") : .text(#"{"text":"I have a fever"}"#)
            }
            let url = "https://localhost:\(http.port)\(kind == .openai ? "/v1" : "")"
            let failed = try #require(
                try await transcriber(kind, url, connectTime: .milliseconds(200)).probe())
            let asked = kind == .openai ? "GET \(url)/models" : "a TLS connection to localhost:\(http.port)"
            #expect(failed.asked == asked)
            #expect(http.requests.isEmpty)
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI())
            let address = try #require(URL(string: url))
            let trusting = try recogniser.bare { ($0.baseURL, $0.trust) = (address, authority.trust) }
            #expect(await trusting.probe() == nil)
            #expect(http.requests.map(\.target) == (kind == .openai ? ["/v1/models"] : []))
            guard kind == .openai else { return }
            #expect(try await trusting.transcribe(try recogniser.recording()).text == "I have a fever")
        }
    }

    @Test("a recogniser whose check has failed is unreachable until a check or a recording succeeds")
    func unreachable() async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(.openai, try await SpeechAPI(always: .error))
            let transcriber = try recogniser.guarded()
            #expect(transcriber.condition == .available)
            for isByRecording in [true, false] {
                recogniser.api.become(.error)
                #expect(await transcriber.probe() != nil)
                #expect(transcriber.condition == .unreachable)
                #expect(transcriber.hasFailedLast)
                recogniser.api.become(nil)
                if isByRecording {
                    _ = try await transcriber.transcribe(try recogniser.recording())
                } else {
                    #expect(await transcriber.probe() == nil)
                }
                #expect(transcriber.condition == .available)
                #expect(!transcriber.hasFailedLast)
            }
        }
    }
}
