import Basics
import Foundation
import NIOCore
package import NIOPosix
import ScribeDomain
import SystemPackage

/// Live engine around any transcriber: recognises the speech between two pauses as a recording of its own. So a
/// recogniser with only a REST call or a command line serves live text as well.
package struct TranscribingLiveEngine: LiveEngine {
    private let transcriber: any Transcriber
    private let temporary: TemporaryFiles
    private let files: NIOThreadPool

    /// Most audio that may wait for a slow transcriber; after that the client waits.
    private static let maxWaiting: Duration = .seconds(60)

    package init(_ transcriber: any Transcriber, temporary: TemporaryFiles, files: NIOThreadPool) {
        self.transcriber = transcriber
        self.temporary = temporary
        self.files = files
    }

    package var name: String { transcriber.name }

    package func withSession(
        _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
        _ body: (inout any LiveSession) async throws -> Void
    ) async throws {
        let queue = BoundedQueue<TranscribingLiveSession.Work>(
            limit: Int(saturating: Self.maxWaiting / .seconds(1)) * options.sampleRate)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var listener = SpeechSpanTranscriber(
                    options: options, transcriber: transcriber, temporary: temporary, files: files, emit: emit)
                do {
                    while let work = await queue.next() {
                        try await listener.process(work, isLast: await queue.isEmpty)
                    }
                } catch {
                    await queue.finish(throwing: error)
                    if let failure = error as? EngineFailure { try await emit(.failed(failure)) }
                    throw error
                }
            }
            var session: any LiveSession = TranscribingLiveSession(options, queue)
            do {
                try await body(&session)
            } catch {
                group.cancelAll()
                await queue.finish(throwing: error)
                throw error
            }
            await queue.finish()
            try await group.waitForAll()
        }
    }
}

/// Cuts the audio into stretches of speech and queues them for the transcriber.
private struct TranscribingLiveSession: LiveSession {
    enum Work: Sendable {
        case event(channel: Int, SpeechDetector.Event)
        case answerFinalize(channel: Int, SpeechDetector.SpeechSpan)
        case vocabulary([String])

        /// Weight in samples.
        var weight: Int {
            switch self {
            case .event(_, .partial(let stretch)), .event(_, .whole(let stretch)), .answerFinalize(_, let stretch):
                stretch.samples.count
            case .event(_, .began), .event(_, .pause), .vocabulary: 0
            }
        }
    }

    private let queue: BoundedQueue<Work>
    private var hops: HopSplitter
    private var channels: [SpeechDetector]

    init(_ options: LiveOptions, _ queue: BoundedQueue<Work>) {
        self.queue = queue
        hops = HopSplitter(options)
        channels = (0..<hops.heardChannels).map { _ in SpeechDetector(options) }
    }

    mutating func feed(_ audio: ByteBuffer) async throws {
        hops.add(audio)
        while let hop = hops.next() {
            for index in channels.indices {
                for event in channels[index].process(hop[index]) { try await add(.event(channel: index, event)) }
            }
        }
    }

    func expect(_ vocabulary: [String]) async throws { try await add(.vocabulary(vocabulary)) }

    mutating func finalize() async throws {
        let rest = hops.takeRest()
        for index in channels.indices {
            let stretch = channels[index].settle(rest.isEmpty ? [] : rest[index])
            try await add(.answerFinalize(channel: index, stretch))
        }
    }

    mutating func close() async throws {
        let rest = hops.takeRest()
        for index in channels.indices where channels[index].hasUnsettledResult {
            let stretch = channels[index].settle(rest.isEmpty ? [] : rest[index])
            try await add(.event(channel: index, .whole(stretch)))
        }
    }

    private func add(_ work: Work) async throws { try await queue.add(work, weight: work.weight) }
}

/// Recognises queued stretches of speech one after another, and emits the results.
private struct SpeechSpanTranscriber {
    var options: LiveOptions
    let transcriber: any Transcriber
    let temporary: TemporaryFiles
    let files: NIOThreadPool
    let emit: @Sendable (LiveEvent) async throws -> Void
    /// End of the last word of each channel, until the pause after it is emitted.
    var lastWordEnd: [Int: Double] = [:]

    private static let attempts = 3

    private func seconds(_ samples: Int) -> Double {
        (Double(samples) / Double(options.sampleRate)).inThousandths
    }

    /// Processes one queued item.
    /// - Parameter isLast: whether the queue is empty.
    mutating func process(_ work: TranscribingLiveSession.Work, isLast: Bool) async throws {
        switch work {
        case .vocabulary(let words): options.vocabulary = words
        case .event(let channel, .began(let place)):
            if options.vadEvents { try await emit(.speechStarted(channel: channel, at: seconds(place))) }
        case .event(let channel, .pause):
            if let end = lastWordEnd.removeValue(forKey: channel) {
                try await emit(.utteranceEnd(channel: channel, lastWordEnd: end))
            }
        case .event(let channel, .partial(let stretch)):
            // A partial stretch counts only while it is the newest. Its failure is ignored,
            // because the whole stretch follows.
            guard isLast, let words = try? await words(in: stretch, attempts: 1),
                !words.isEmpty || stretch.samples.isEmpty
            else { return }
            try await emitResult(words, stretch, channel, isFinal: false)
        case .event(let channel, .whole(let stretch)):
            try await emitResult(try await words(in: stretch, attempts: Self.attempts), stretch, channel, isFinal: true)
        case .answerFinalize(let channel, let stretch):
            let words = try await words(in: stretch, attempts: Self.attempts)
            try await emitResult(words, stretch, channel, isFinal: true, answersFinalize: true)
        }
    }

    private mutating func emitResult(
        _ words: [LiveWord], _ stretch: SpeechDetector.SpeechSpan, _ channel: Int, isFinal: Bool,
        answersFinalize: Bool = false
    ) async throws {
        if isFinal, let last = words.last { lastWordEnd[channel] = last.end }
        let start = seconds(stretch.settled)
        try await emit(
            .result(
                LiveResult(
                    channel: channel, start: start, duration: seconds(stretch.end - stretch.settled), words: words,
                    isFinal: isFinal, speechFinal: stretch.speechFinal, fromFinalize: answersFinalize)))
    }

    private func words(in stretch: SpeechDetector.SpeechSpan, attempts: Int) async throws -> [LiveWord] {
        guard !stretch.samples.isEmpty else { return [] }
        let speech = try await speech(in: stretch.samples, attempts: attempts)
        let (start, first, last) = (seconds(stretch.start), seconds(stretch.settled), seconds(stretch.end))
        return speech.words(in: SpeechRanges(), over: seconds(stretch.samples.count)).map { word in
            // Times are limited to the stretch, whatever the recogniser returns.
            func place(_ time: Double) -> Double {
                min(max((start + time).inThousandths, first), last)
            }
            let word = TimedWord(
                text: word.text, start: place(word.start), end: place(word.end),
                speaker: options.diarize ? word.speaker ?? 0 : nil)
            return LiveWord(
                word, confidence: speech.wordConfidence, punctuate: options.punctuate, language: speech.language)
        }
    }

    private func speech(in samples: [Int16], attempts: Int) async throws -> RecognisedSpeech {
        try await temporary.use(extension: "wav") { path in
            try await files.runIfActive { try Self.write(samples, at: options.sampleRate, to: path) }
            for attempt in 1... {
                let recording = Recording(
                    LocalAudio(path: path), ordinal: 1, languages: options.languages,
                    isLastAttempt: attempt >= attempts, tenant: options.tenant,
                    vocabulary: { [vocabulary = options.vocabulary] in vocabulary })
                do {
                    return try await transcriber.transcribe(recording)
                } catch let failure as EngineFailure where failure.isRetryable && attempt < attempts {
                    continue
                } catch let failure as EngineFailure where failure.origin == .input {
                    return RecognisedSpeech(text: "")
                }
            }
            preconditionFailure("there is no end to the attempts")
        }
    }

    private static func write(_ samples: [Int16], at rate: Int, to path: String) throws {
        var bytes = WaveHeader(.signed16, channels: 1, sampleRate: rate).bytes(before: samples.count * 2)
        bytes.reserveCapacity(bytes.readableBytes + samples.count * 2)
        for sample in samples { bytes.writeInteger(sample, endianness: .little) }
        let file = try FileSystem.newFile(path, .truncate)
        try file.closeAfter { _ = try file.writeAll(bytes.readableBytesView) }
    }
}
