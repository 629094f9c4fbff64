import Basics
import Foundation
import NIOPosix
import TestSupport
import Testing

@testable import Engines

/// Recogniser of one kind on a speech service within the process, with a clock that the test moves.
struct ServedRecogniser {
    enum Kind: String, CaseIterable { case openai, deepgram, command }

    let kind: Kind
    let api: SpeechAPI
    let manual = ManualClock()
    let audio: Data
    private let recordings: TemporaryFolder
    /// Folder of temporary files, which is empty between two recognitions.
    private let work: TemporaryFolder

    init(_ kind: Kind, _ api: SpeechAPI, audio: Data = TestAudio.wav(seconds: 3)) throws {
        self.kind = kind
        self.api = api
        self.audio = audio
        recordings = try TemporaryFolder()
        work = try TemporaryFolder()
    }

    var temporary: TemporaryFiles {
        TemporaryFiles(folder: work.path, identifiers: .counting(), files: .singleton)
    }

    /// Recogniser without limits around it.
    /// - Parameter change: changes the settings of the service.
    func bare(
        timeLimit: Duration = timeOfATest, connectTime: Duration = timeOfATest,
        told: LockedValue<[String]> = LockedValue([]),
        _ change: (inout SpeechService) -> Void = { _ in }
    ) throws -> any Transcriber {
        var service = SpeechService(baseURL: try #require(URL(string: "\(api.http.url)/v1")))
        change(&service)
        let client = ServiceClient(
            timeLimit: timeLimit, connectTime: connectTime, trust: service.trust, files: .singleton,
            clock: manual.clock
        ) { address in told.withLock { $0.append(address) } }
        switch kind {
        case .openai:
            return OpenAITranscriber(service: service, client: client, temporary: temporary, files: .singleton)
        case .deepgram: return DeepgramTranscriber(service: service, client: client, files: .singleton)
        case .command:
            return try CommandTranscriber(
                commandLine: "curl --silent --fail --data-binary @{file} \(api.http.url)/plain", temporary: temporary,
                timeLimit: timeLimit, clock: manual.clock, files: .singleton)
        }
    }

    /// Recogniser with the limits that the server puts around it.
    func guarded(
        fallback: (any Transcriber)? = nil, _ policy: EngineGuard.Policy = .init()
    ) throws -> GuardedTranscriber {
        GuardedTranscriber(
            try bare(), fallback: fallback, policy: policy, clock: manual.clock, files: .singleton)
    }

    /// Recording of ``audio``.
    func recording(
        languages: [String] = [], isLite: Bool = false, isLastAttempt: Bool = false, vocabulary: [String] = []
    ) throws -> Recording {
        let path = try recordings.write(audio, as: UUID().uuidString)
        return Recording(
            LocalAudio(path: path), ordinal: 1, languages: languages, isLite: isLite, isLastAttempt: isLastAttempt
        ) { vocabulary }
    }

    /// Failure of a recognition; nil for a recognition that succeeds.
    func failure(_ transcriber: any Transcriber) async throws -> EngineFailure? {
        do {
            _ = try await transcriber.transcribe(try recording())
            return nil
        } catch let failure as EngineFailure {
            return failure
        }
    }

    /// Checks that no recognition has left a file behind.
    func expectNoFiles() throws {
        #expect(try FileManager.default.contentsOfDirectory(atPath: work.path).isEmpty, "nothing said stays behind")
    }
}
