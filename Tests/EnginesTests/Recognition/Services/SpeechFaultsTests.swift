import Basics
import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Recognisers of each kind on a service with each fault.
struct SpeechFaultsTests {
    typealias Kind = ServedRecogniser.Kind

    /// Outcome of a fault: whether another attempt may help, and what else the failure says.
    private struct Outcome {
        var isRetryable = true
        var origin = EngineFailure.Origin.service
        var retryAfter: Double?
        var reason: String
        var detail = ""
    }

    /// Outcome of each fault of a service over HTTP, but of silence, which only a clock ends.
    private static func outcome(_ fault: SpeechFault) -> Outcome? {
        switch fault {
        case .error: Outcome(reason: "answered 500", detail: #"{"error":"down"}"#)
        case .busy: Outcome(retryAfter: 1, reason: "answered 429")
        case .busyWithoutEnd: Outcome(reason: "answered 429")
        case .close, .cut: Outcome(reason: "did not answer")
        case .garbage, .page: Outcome(reason: "is no transcription")
        case .wrongKey: Outcome(isRetryable: false, reason: "the key with 401", detail: #"{"error":"wrong key"}"#)
        case .unusable:
            Outcome(
                isRetryable: false, origin: .input, reason: "the recording: 415",
                detail: #"{"error":{"message":"Invalid file format"}}"#)
        case .long: Outcome(isRetryable: false, reason: "too long")
        case .packed: Outcome(isRetryable: false, reason: "packed, as gzip")
        case .redirect: Outcome(isRetryable: false, reason: "redirects, with 307")
        case .silence: nil
        }
    }

    @Test(
        "each fault of a speech service is a failure that says whether another attempt may help",
        arguments: [Kind.openai, .deepgram], SpeechFault.allCases)
    func faults(kind: Kind, fault: SpeechFault) async throws {
        guard let expected = Self.outcome(fault) else { return }
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI(always: fault))
            let failure = try #require(try await recogniser.failure(try recogniser.bare()))
            #expect(failure.code == .transcriptionFailed)
            #expect(failure.isRetryable == expected.isRetryable)
            #expect(failure.origin == expected.origin)
            #expect(failure.retryAfter == expected.retryAfter)
            #expect(failure.reason.contains(expected.reason), "\(failure.reason)")
            #expect(failure.detail == expected.detail)
            #expect(recogniser.api.requests.count == 1, "the recognition asks once, and follows no redirect")
            try recogniser.expectNoFiles()
            recogniser.api.become(nil)
            #expect(try await recogniser.bare().transcribe(try recogniser.recording()).text == SpeechAPI.text)
        }
    }

    @Test(
        "a program fails so that another attempt may help, whatever its service answers",
        arguments: [SpeechFault.error, .busy, .busyWithoutEnd, .close, .cut, .wrongKey, .unusable, .long])
    func programs(fault: SpeechFault) async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(.command, try await SpeechAPI(always: fault))
            let failure = try #require(try await recogniser.failure(try recogniser.bare()))
            #expect(failure.code == .transcriptionFailed)
            #expect(failure.isRetryable)
            #expect(failure.origin == .service)
            try recogniser.expectNoFiles()
            recogniser.api.become(nil)
            #expect(try await recogniser.bare().transcribe(try recogniser.recording()).text == SpeechAPI.text)
        }
    }

    @Test("an answer longer than 8 MB is not read to its end", arguments: [Kind.openai, .deepgram])
    func longAnswer(kind: Kind) async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI(always: .long))
            _ = try await recogniser.failure(try recogniser.bare())
            // The rest lies in the buffers of both sockets.
            #expect(recogniser.api.http.record.sent < 32 << 20)
        }
    }

    @Test(
        "a silent service exceeds the time limit of a recognition, and another attempt may help",
        arguments: Kind.allCases)
    func silence(kind: Kind) async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI([.silence]))
            let policy = EngineGuard.Policy(timeLimit: .seconds(10), timeLimitPerSecond: .seconds(2))
            let transcriber = try recogniser.guarded(policy)
            let failed = Task { try await recogniser.failure(transcriber) }
            // A program has a time limit of its own.
            try await recogniser.manual.waitFor(kind == .command ? 2 : 1, .timeLimit)
            try await recogniser.api.http.record.waitFor(1)
            recogniser.manual.advance(by: .seconds(16))
            let failure = try #require(try await failed.value)
            #expect(failure.code == .transcriptionTimeout)
            #expect(failure.isRetryable)
            #expect(failure.reason.contains("16"), "10 s and 2 s for each of 3 seconds: \(failure.reason)")
            try recogniser.expectNoFiles()
            #expect(try await transcriber.transcribe(try recogniser.recording()).text == SpeechAPI.text)
        }
    }

    @Test(
        "a service that stays silent for the client's own time limit has not answered in time",
        arguments: [Kind.openai, .deepgram])
    func ownTimeLimit(kind: Kind) async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI(always: .silence))
            let transcriber = try recogniser.bare(timeLimit: .milliseconds(20))
            let failure = try #require(try await recogniser.failure(transcriber))
            #expect(failure.code == .transcriptionTimeout)
            #expect(failure.isRetryable)
        }
    }

    @Test(
        "a port that refuses connections is told of at once, is tried again, and is a failure that may pass",
        arguments: [Kind.openai, .deepgram])
    func refusedConnection(kind: Kind) async throws {
        try await withinTheTimeOfATest {
            let port = try RefusingPort()
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI())
            let told = LockedValue([String]())
            let transcriber = try recogniser.bare(connectTime: .milliseconds(800), told: told) { service in
                service.baseURL = URL(string: "http://127.0.0.1:\(port.number)/v1") ?? service.baseURL
            }
            async let failing = recogniser.failure(transcriber)
            for pause in [500, 300] {
                try await recogniser.manual.waitFor(.upstream)
                #expect(told.withLock { $0.count } == 1)
                recogniser.manual.advance(by: .milliseconds(pause))
            }
            let failure = try #require(try await failing)
            #expect(told.withLock { $0 }.allSatisfy { $0.hasPrefix("http://127.0.0.1:\(port.number)/v1") })
            #expect([.transcriptionFailed, .transcriptionTimeout].contains(failure.code))
            #expect(failure.isRetryable)
            #expect(recogniser.api.requests.isEmpty)
        }
    }

    @Test(
        "a failing service is left alone and is unavailable, the fallback transcribes, and a success ends that",
        arguments: Kind.allCases)
    func circuit(kind: Kind) async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI(always: .error))
            let transcriber = try recogniser.guarded(fallback: Fallback())
            for _ in 0..<5 {
                #expect(transcriber.condition == .available)
                let recording = try recogniser.recording(isLastAttempt: true)
                #expect(try await transcriber.transcribe(recording).text == "from the fallback")
            }
            #expect(transcriber.condition == .unavailable)
            #expect(transcriber.hasFailedLast)
            let first = try await transcriber.transcribe(try recogniser.recording())
            #expect(first.text == "from the fallback", "also of an attempt that is not the last")
            recogniser.manual.advance(by: .seconds(14.9))
            _ = try await transcriber.transcribe(try recogniser.recording())
            #expect(recogniser.api.requests.count == 5, "it is left alone for 15 s")
            recogniser.api.become(nil)
            recogniser.manual.advance(by: .seconds(0.1))
            #expect(try await transcriber.transcribe(try recogniser.recording()).text == SpeechAPI.text)
            #expect(transcriber.condition == .available)
            #expect(!transcriber.hasFailedLast)
        }
    }

    @Test(
        "a service that refuses recordings stays available, and one that fails does not",
        arguments: [Kind.openai, .deepgram], [(SpeechFault.unusable, true), (.wrongKey, false), (.redirect, false)])
    func availability(kind: Kind, fault: (kind: SpeechFault, staysAvailable: Bool)) async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI(always: fault.kind))
            let transcriber = try recogniser.guarded(.init(failuresToOpen: 3))
            for _ in 0..<3 { _ = try await recogniser.failure(transcriber) }
            #expect(transcriber.condition == (fault.staysAvailable ? .available : .unavailable))
            recogniser.api.become(nil)
            recogniser.manual.advance(by: .seconds(15))
            #expect(try await transcriber.transcribe(try recogniser.recording()).text == SpeechAPI.text)
        }
    }

    @Test("as many recordings as the limit are at a service at the same time", arguments: Kind.allCases)
    func concurrency(kind: Kind) async throws {
        try await withinTheTimeOfATest {
            let recogniser = try ServedRecogniser(kind, try await SpeechAPI(always: .silence))
            let policy = EngineGuard.Policy(
                timeLimit: .seconds(10), timeLimitPerSecond: .zero, concurrency: 1, failuresToOpen: 9)
            let transcriber = try recogniser.guarded(policy)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { _ = try await recogniser.failure(transcriber) } }
                for count in 1...3 {
                    try await recogniser.manual.waitFor(kind == .command ? 2 : 1, .timeLimit)
                    try await recogniser.api.http.record.waitFor(count)
                    #expect(recogniser.api.requests.count == count)
                    #expect(recogniser.manual.count(of: .timeLimit) == (kind == .command ? 2 : 1))
                    recogniser.manual.advance(by: .seconds(10))
                }
                try await group.waitForAll()
            }
        }
    }

    private struct Fallback: Transcriber {
        let name = "fallback"

        func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
            RecognisedSpeech(text: "from the fallback")
        }
    }
}
