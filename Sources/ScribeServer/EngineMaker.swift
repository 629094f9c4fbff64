import Engines
import Foundation
import Listen
import NIOPosix
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// Makes the engines that the configuration names, with the limits around them.
struct EngineMaker {
    let configuration: Configuration
    let fixtures: FixtureSet
    let temporary: TemporaryFiles
    let identifiers: IdentifierSource
    let clock: WallClock
    let threads: NIOThreadPool
    let decoder: WaveDecoder

    /// - Throws: ``StartupProblem/unusableTranscriber(setting:reason:)``.
    func transcriber() throws -> any Transcriber {
        let setting = "fallback-transcriber"
        let fallback = try configuration.fallbackTranscriber.map {
            try $0 == .fake ? bare($0, of: setting) : guarded($0, of: setting)
        }
        // The fake cannot fail but on purpose, and its pauses are on purpose too.
        if configuration.transcriber == .fake { return fake }
        let transcriber = try guarded(configuration.transcriber, of: "transcriber", fallback: fallback)
        return MeasuringTranscriber(transcriber, decoder: decoder)
    }

    /// What listens to live streams: the transcriber's own live API where it has one, else the transcriber itself, on what is
    /// said between two pauses.
    func liveEngine(_ transcriber: any Transcriber) -> any LiveEngine {
        let engine: any LiveEngine =
            switch configuration.transcriber {
            case .fake: FakeLiveEngine()
            case .deepgram(let url):
                DeepgramLiveEngine(
                    service: service(url), policy: configuration.recognition, identifiers: identifiers, clock: clock)
            case .openAI, .command: TranscribingLiveEngine(transcriber, temporary: temporary, files: threads)
            }
        return DecodingLiveEngine(
            engine, count: configuration.decoders, idleTime: configuration.listen.idleTime, clock: clock)
    }

    /// What users make the server do on purpose. Nobody is made to say anything where a real recogniser listens.
    func bench() -> TestBench {
        TestBench(fixtures, player: configuration.transcriber == .fake ? fake : nil)
    }

    private var fake: FakeTranscriber {
        FakeTranscriber(fixtures: fixtures, clock: clock, files: threads, atOnce: configuration.durability.atOnce)
    }

    /// A writer that takes time has the limits around it that a recogniser has.
    func guarded(_ writer: any NoteWriter) -> any NoteWriter {
        writer.isInstant ? writer : GuardedNoteWriter(writer, policy: configuration.recognition, clock: clock)
    }

    private func guarded(
        _ choice: Configuration.TranscriberChoice, of setting: String, fallback: (any Transcriber)? = nil
    ) throws -> GuardedTranscriber {
        GuardedTranscriber(
            try bare(choice, of: setting), fallback: fallback, policy: configuration.recognition, clock: clock,
            files: threads)
    }

    /// - Parameter setting: where the choice comes from, for messages.
    private func bare(_ choice: Configuration.TranscriberChoice, of setting: String) throws -> any Transcriber {
        switch choice {
        case .fake:
            return fake
        case .command(let commandLine):
            do {
                return try CommandTranscriber(
                    commandLine: commandLine, temporary: temporary,
                    timeLimit: configuration.recognition.timeLimit * 10, clock: clock, files: threads
                )
            } catch let problem as CommandTranscriber.MissingProgram {
                throw StartupProblem.unusableTranscriber(
                    setting: setting,
                    reason: "there is no program '\(problem.name)' that can be run; install it, or name its whole path")
            } catch let problem as CommandLineWords.Problem {
                throw StartupProblem.unusableTranscriber(setting: setting, reason: "\(problem)")
            }
        case .openAI(let url):
            return cutting(
                OpenAITranscriber(
                    service: service(url), client: client(), temporary: temporary, files: threads))
        case .deepgram(let url):
            return cutting(DeepgramTranscriber(service: service(url), client: client(), files: threads))
        }
    }

    /// Without ffmpeg long recordings are handed on as they are, for the service to take or to refuse.
    private func cutting(_ base: any Transcriber) -> any Transcriber {
        guard LongRecordingTranscriber.isAvailable else { return base }
        return LongRecordingTranscriber(
            base, longest: configuration.speechService.longest, temporary: temporary,
            timeLimit: configuration.recognition.timeLimit * 10, clock: clock, files: threads
        )
    }

    private func service(_ url: URL) -> SpeechService {
        let settings = configuration.speechService
        return SpeechService(
            baseURL: url, key: settings.key, model: settings.model, liteModel: settings.liteModel,
            prompt: settings.prompt, trust: configuration.outboundTrust)
    }

    /// The guard's limit ends a recognition; this one only ends a connection that says nothing at all for longer.
    private func client() -> SpeechServiceClient {
        SpeechServiceClient(
            timeLimit: configuration.recognition.timeLimit * 10, trust: configuration.outboundTrust, files: threads)
    }
}
