import Engines
import NIOPosix
import ScribeRuntime

/// Engines of a server, each with its limits.
struct EngineSet: Sendable {
    let transcriber: any Transcriber
    let noteWriter: any NoteWriter
    let live: any LiveEngine
    let facts: ClinicalFacts
    let fixtureBehaviour: FixtureBehaviour
    let temporary: TemporaryFiles
    let decoder: RecordingDecoder

    /// Makes the engines that the configuration names.
    /// - Throws: ``StartupProblem``.
    init(_ configuration: Configuration, _ parts: Emulator.Parts, fixtures: FixtureSet, work: String) throws {
        let threads = NIOThreadPool.singleton
        temporary = TemporaryFiles(
            folder: work, identifiers: parts.identifiers, files: threads)
        // The fake must answer at once and alike on every machine, so it reads WAV only.
        decoder = RecordingDecoder(
            concurrency: configuration.recognition.concurrency, decodes: configuration.transcriber != .fake,
            temporary: temporary, clock: parts.clock, files: threads)
        let engines = EngineMaker(
            configuration: configuration, fixtures: fixtures, temporary: temporary,
            identifiers: parts.identifiers, clock: parts.clock, logger: parts.logger, threads: threads, decoder: decoder
        )
        transcriber = try parts.transcriber ?? engines.transcriber()
        facts = ClinicalFacts(threads: threads)
        noteWriter = parts.noteWriter.map { engines.guarded($0) } ?? engines.noteWriter(facts)
        live = parts.liveEngine ?? engines.liveEngine(transcriber)
        fixtureBehaviour = engines.fixtureBehaviour()
    }
}
