import Engines
import NIOPosix
import ScribeDomain
import ScribeRuntime
import ScribeStore

/// The engines of a backend, each with the policy around it.
struct Machinery: Sendable {
    let transcriber: any Transcriber
    let noteWriter: any NoteWriter
    let live: any LiveEngine
    let facts: ClinicalFacts
    let bench: TestBench
    let temporary: TemporaryFiles
    let decoder: WaveDecoder

    /// - Throws: ``StartupProblem``.
    init(_ configuration: Configuration, _ parts: Emulator.Parts, fixtures: FixtureSet, work: String) throws {
        let threads = NIOThreadPool.singleton
        temporary = TemporaryFiles(
            folder: work, identifiers: parts.identifiers, files: threads)
        // The fake answers at once, and the same on every machine: it reads WAV alone.
        decoder = WaveDecoder(
            concurrency: configuration.recognition.concurrency, decodes: configuration.transcriber != .fake,
            temporary: temporary, clock: parts.clock, files: threads)
        let engines = EngineMaker(
            configuration: configuration, fixtures: fixtures, temporary: temporary,
            identifiers: parts.identifiers, clock: parts.clock, threads: threads, decoder: decoder)
        transcriber = try parts.transcriber ?? engines.transcriber()
        facts = ClinicalFacts(threads: threads)
        noteWriter = engines.guarded(parts.noteWriter ?? RulesNoteWriter(facts: facts))
        live = parts.liveEngine ?? engines.liveEngine(transcriber)
        bench = engines.bench()
    }
}
