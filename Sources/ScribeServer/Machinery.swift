import Engines
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
    init(_ configuration: Configuration, _ parts: Backend.Parts, fixtures: FixtureSet, data: OpenData) throws {
        temporary = TemporaryFiles(
            folder: data.folder.workFolder, identifiers: parts.identifiers, files: data.threads)
        // The fake answers at once, and the same on every machine: it reads WAV alone.
        decoder = WaveDecoder(
            concurrency: configuration.recognition.concurrency, decodes: configuration.transcriber != .fake,
            temporary: temporary, clock: parts.clock, files: data.threads)
        let engines = EngineMaker(
            configuration: configuration, fixtures: fixtures, temporary: temporary,
            identifiers: parts.identifiers, clock: parts.clock, threads: data.threads, decoder: decoder)
        transcriber = try parts.transcriber ?? engines.transcriber()
        facts = ClinicalFacts(threads: data.threads)
        noteWriter = engines.guarded(parts.noteWriter ?? RulesNoteWriter(facts: facts))
        live = parts.liveEngine ?? engines.liveEngine(transcriber)
        bench = engines.bench()
    }
}
