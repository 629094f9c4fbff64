import Basics
import Engines
import Foundation
import Listen
import Logging
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// Makes the engines that the configuration names, and puts limits around them.
struct EngineMaker {
    let configuration: Configuration
    let fixtures: FixtureSet
    let temporary: TemporaryFiles
    let identifiers: IdentifierSource
    let clock: WallClock
    let logger: Logger
    let threads: NIOThreadPool
    let decoder: RecordingDecoder

    /// The recogniser for recordings, with its fallback.
    /// - Throws: ``StartupProblem/unusableTranscriber(setting:reason:)``.
    func transcriber() throws -> any Transcriber {
        let setting = "fallback-transcriber"
        let fallback = try configuration.fallbackTranscriber.map {
            try $0 == .fake ? bare($0, of: setting) : guarded($0, of: setting)
        }
        // The fake fails and pauses only on purpose, so it needs no limits.
        if configuration.transcriber == .fake { return fake }
        let transcriber = try guarded(configuration.transcriber, of: "transcriber", fallback: fallback)
        return MeasuringTranscriber(transcriber, decoder: decoder)
    }

    /// The recogniser for live streams: the live API of the speech service if it has one, else the transcriber, which
    /// gets the speech between two pauses as a recording.
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

    /// Failures and texts of fixtures. With a real recogniser, fixtures have no texts.
    func fixtureBehaviour() -> FixtureBehaviour {
        FixtureBehaviour(fixtures, fixtureTranscriber: configuration.transcriber == .fake ? fake : nil)
    }

    private var fake: FakeTranscriber {
        FakeTranscriber(fixtures: fixtures, clock: clock, files: threads)
    }

    /// The note writer that the configuration names: the rules, or a language model with the rules as its fallback.
    func noteWriter(_ facts: ClinicalFacts) -> any NoteWriter {
        let rules = RulesNoteWriter(facts: facts)
        guard case .openAI(let url) = configuration.noteWriter else { return rules }
        let settings = configuration.noteModel
        let client = client(
            of: "note writer", timeLimit: configuration.noteLimits.timeLimit, codes: (.noteFailed, .noteFailed))
        let model = ChatModel(baseURL: url, key: settings.key, model: settings.model, client: client)
        let writer = ModelNoteWriter(
            model, unsaid: settings.unsaid, longest: settings.longest,
            byRules: Set(settings.byRules.map { TemplateID($0) }), rules: rules)
        return guarded(writer, fallback: rules)
    }

    /// Puts limits around a note writer that takes time.
    func guarded(_ writer: any NoteWriter, fallback: (any NoteWriter)? = nil) -> any NoteWriter {
        if writer.isInstant { return writer }
        return GuardedNoteWriter(writer, fallback: fallback, policy: configuration.noteLimits, clock: clock)
    }

    private func guarded(
        _ choice: Configuration.TranscriberChoice, of setting: String, fallback: (any Transcriber)? = nil
    ) throws -> GuardedTranscriber {
        GuardedTranscriber(
            try bare(choice, of: setting), fallback: fallback, policy: configuration.recognition, clock: clock,
            files: threads)
    }

    /// Makes a recogniser without limits around it.
    /// - Parameter setting: The name of the setting with the choice, for messages.
    private func bare(_ choice: Configuration.TranscriberChoice, of setting: String) throws -> any Transcriber {
        switch choice {
        case .fake:
            return fake
        case .command(let commandLine):
            return try Self.explaining(setting) {
                try CommandTranscriber(
                    commandLine: commandLine, temporary: temporary,
                    timeLimit: configuration.recognition.timeLimit * 10, clock: clock, files: threads
                )
            }
        case .openAI(let url):
            return cutting(
                OpenAITranscriber(
                    service: service(url), client: client(), temporary: temporary, files: threads))
        case .deepgram(let url):
            return cutting(DeepgramTranscriber(service: service(url), client: client(), files: threads))
        }
    }

    /// Checks the command line of a recogniser, if it has one.
    /// - Throws: ``StartupProblem/unusableTranscriber(setting:reason:)``.
    static func check(_ choice: Configuration.TranscriberChoice?, of setting: String) throws {
        guard case .command(let commandLine) = choice else { return }
        _ = try explaining(setting) { try CommandTranscriber.arguments(of: commandLine) }
    }

    private static func explaining<Value>(_ setting: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let problem as CommandTranscriber.MissingProgram {
            throw StartupProblem.unusableTranscriber(
                setting: setting,
                reason: "there is no program '\(problem.name)' that can be run; install it, or name its whole path")
        } catch let problem as CommandLineWords.Problem {
            throw StartupProblem.unusableTranscriber(setting: setting, reason: "\(problem)")
        }
    }

    /// Cuts long recordings before they go to the service. Without ffmpeg they go there whole, and the service may
    /// refuse them.
    private func cutting(_ base: any Transcriber) -> any Transcriber {
        guard FFmpeg.isInstalled else { return base }
        return LongRecordingTranscriber(
            base, longest: configuration.speechService.longest, temporary: temporary,
            timeLimit: configuration.recognition.timeLimit * 10, clock: clock, files: threads
        )
    }

    private func service(_ url: URL) -> SpeechService {
        SpeechService(baseURL: url, settings: configuration.speechService, trust: configuration.outboundTrust)
    }

    private func client() -> ServiceClient {
        client(
            of: "transcriber", timeLimit: configuration.recognition.timeLimit,
            codes: (.transcriptionFailed, .transcriptionTimeout))
    }

    /// HTTP client of an engine's service. Its time limit is ten times the guard's, which ends the work: this one only
    /// ends connections without any answer.
    private func client(
        of engine: String, timeLimit: Duration, codes: (failed: Diagnostic.Code, late: Diagnostic.Code)
    ) -> ServiceClient {
        ServiceClient(
            timeLimit: timeLimit * 10, trust: configuration.outboundTrust, codes: codes, files: threads, clock: clock
        ) { [logger] address in
            logger.warning("nothing listens at the address of the \(engine)", metadata: ["asked": "\(address)"])
        }
    }
}
