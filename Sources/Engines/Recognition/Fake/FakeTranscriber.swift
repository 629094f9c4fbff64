package import Basics
import Crypto
import Foundation
package import NIOPosix
package import ScribeDomain

/// Fake transcriber: returns a fixture's text, or passages of a plausible visit as long as the audio.
///
/// The result depends only on the audio's bytes, the chunk's number, its overlap with the chunk
/// before, the language and the fixture.
package struct FakeTranscriber: Transcriber {
    package let name = "fake"
    /// Quality of audio that cannot be measured at once.
    private static let usualQuality = 0.9
    private static let silence =
        "No speech found: the audio is silent; for a transcript of silent test audio use fixture:follow-up"
    private var fixturesByHash: [String: Fixture]
    /// Selected fixture, used whatever the audio is; nil selects by the audio's hash.
    private var played: Played?
    private let transactions: [String: FakeSpeech]
    private let clock: WallClock
    private let files: NIOThreadPool

    /// Creates a fake transcriber.
    /// - Parameter files: threads that may block.
    package init(fixtures: FixtureSet, clock: WallClock, files: NIOThreadPool) {
        self.fixturesByHash = Dictionary(
            fixtures.fixtures.compactMap { fixture in fixture.sha256.map { ($0.lowercased(), fixture) } },
            uniquingKeysWith: { first, _ in first }
        )
        self.transactions = fixtures.defaultPassages.filter { !$0.value.isEmpty }.mapValues(FakeSpeech.init(passages:))
        self.clock = clock
        self.files = files
    }

    /// Whether results are instant; false if a fixture delays chunks.
    package var isInstant: Bool { fixturesByHash.values.allSatisfy { $0.delay == nil } }

    private enum Played {
        case fixture(Fixture)
        case unknown
    }

    /// Copy that uses a fixture selected by the client.
    /// - Parameter fixture: nil if no fixture has the requested name; every recording then fails.
    package func withFixture(_ fixture: Fixture?) -> FakeTranscriber {
        var player = self
        player.played = fixture.map(Played.fixture) ?? .unknown
        return player
    }

    /// Copy that also knows fixtures by the SHA-256 of the audio, before its own.
    package func adding(_ fixtures: [Fixture]) -> FakeTranscriber {
        var player = self
        for fixture in fixtures { if let hash = fixture.sha256 { player.fixturesByHash[hash.lowercased()] = fixture } }
        return player
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        var chosen: Fixture?
        switch played {
        case .fixture(let fixture): chosen = fixture
        case .unknown: throw EngineFailure(.unknownFixture, "no fixture of that name")
        case nil: break
        }
        let needsHash = chosen == nil && !fixturesByHash.isEmpty
        let heard = try await recording.audio.read(on: files) { Heard($0, needsHash) }
        if let hash = heard.hash, let fixture = fixturesByHash[hash] {
            chosen = fixture
            if let delay = fixture.delay { try await clock.sleep(for: .seconds(delay), as: .fixture) }
        }
        if let code = chosen?.failure { throw EngineFailure(code, "the fixture says so") }
        let duration = try heard.format.get().duration
        // A selected fixture's text is returned even for silent audio.
        if chosen == nil, heard.quality?.isSilent == true {
            return RecognisedSpeech(
                text: "", warnings: [Diagnostic(.noSpeech, Self.silence)], quality: 0, duration: duration)
        }
        let warnings = chosen?.warning.map { [Diagnostic($0, "The fixture asked for this warning")] } ?? []
        var speech = RecognisedSpeech(
            text: text(of: recording, lasting: duration, fixture: chosen),
            words: Self.segments(of: recording, chosen).flatMap(\.words), warnings: warnings,
            quality: heard.quality?.value ?? Self.usualQuality,
            confidence: warnings.contains { $0.code == .lowConfidence } ? 0.4 : 0.95, duration: duration)
        speech.language = language(of: recording)
        return speech
    }

    /// Language for recordings in a language without passages.
    private static let usualLanguage = "en"

    private func language(of recording: Recording) -> String {
        let wanted = recording.language?.prefix { $0 != "-" }.lowercased() ?? Self.usualLanguage
        return transactions[wanted] == nil ? Self.usualLanguage : wanted
    }

    /// Format, hash and quality of a file.
    private struct Heard: Sendable {
        let format: Result<AudioFormat, EngineFailure>
        let hash: String?
        /// Audio quality; nil if the file is no WAV, which counts as speech.
        let quality: AudioQuality?

        init(_ bytes: AudioBytes, _ needsHash: Bool) {
            format = Result { () throws(EngineFailure) in try AudioFormat(reading: bytes) }
            hash = needsHash ? bytes.sha256() : nil
            quality = AudioQuality.measure(wave: bytes)
        }
    }

    /// Segments of a fixture in this chunk; empty for a fixture without segments.
    private static func segments(of recording: Recording, _ fixture: Fixture?) -> [Fixture.SpokenSegment] {
        guard let chunks = fixture?.spoken, !chunks.isEmpty else { return [] }
        return chunks[min(max(recording.ordinal, 1), chunks.count) - 1]
    }

    private func text(of recording: Recording, lasting duration: Double, fixture: Fixture?) -> String {
        let segments = Self.segments(of: recording, fixture)
        if !segments.isEmpty { return segments.map(\.text).joined(separator: " ") }
        if let text = fixture?.text { return text }
        if let passages = fixture?.passages, !passages.isEmpty {
            return passages[min(max(recording.ordinal, 1), passages.count) - 1]
        }
        return transactions[language(of: recording)]?.text(
            ofChunk: recording.ordinal, lasting: duration, overlaps: recording.overlaps) ?? ""
    }
}

/// Selects the part of a visit's text that fits into a chunk.
struct FakeSpeech {
    /// Passages as sentences, each sentence as words.
    private let passages: [[[Substring]]]

    /// Splits passages into sentences.
    /// - Parameter passages: at least one.
    init(passages: [String]) { self.passages = passages.map(Self.sentences(of:)) }

    /// Speaking rate of unhurried speech, in words per second.
    static let wordsPerSecond = 2.5
    /// Longest text, in seconds of speech, whatever duration the file claims.
    static let longestSpeech = 3600.0
    /// Longest chunk in seconds; clients cut at 25 s at the latest (eka.md 3.1). A
    /// longer file is a recording of its own.
    static let longestChunk = 30.0
    /// Words spoken in the half second by which chunks overlap.
    static let seamWords = 2

    /// Text of a chunk. The text begins with the last words of the chunk before, as overlapping audio does.
    ///
    /// The text always ends with the last sentence of the chunk's passage, so that the next chunk's beginning does not
    /// depend on this chunk's length.
    /// - Parameter overlaps: false if the chunk repeats nothing of the chunk before.
    func text(ofChunk ordinal: Int, lasting duration: Double, overlaps: Bool) -> String {
        let position = max(ordinal, 1) - 1
        var sentences = sentences(ofPassage: position)
        let closing = sentences.removeLast()
        var next = position + 1
        var budget = Int(saturating: min(duration, Self.longestSpeech) * Self.wordsPerSecond) - closing.count
        var spoken: [[Substring]] = []
        while budget > 0 {
            if sentences.isEmpty {
                // The next chunk says the following passage. A file longer than a chunk is a
                // recording of its own, and continues.
                guard duration > Self.longestChunk else { break }
                sentences = self.sentences(ofPassage: next)
                next += 1
            }
            let sentence = sentences.removeFirst()
            guard sentence.count <= budget else { break }
            budget -= sentence.count
            spoken.append(sentence)
        }
        let seam =
            position == 0 || !overlaps ? [] : self.sentences(ofPassage: position - 1).last?.suffix(Self.seamWords) ?? []
        return ([Array(seam)] + spoken + [closing]).flatMap { $0 }.joined(separator: " ")
    }

    /// Sentences of a passage; after the last passage the text begins again.
    private func sentences(ofPassage position: Int) -> [[Substring]] { passages[position % passages.count] }

    private static func sentences(of passage: String) -> [[Substring]] {
        var sentences: [[Substring]] = [[]]
        for word in passage.words {
            sentences[sentences.count - 1].append(word)
            if let last = word.last, ".?!।".contains(last) { sentences.append([]) }
        }
        sentences.removeAll(where: \.isEmpty)
        return sentences.isEmpty ? [[]] : sentences
    }
}

extension Recording {
    /// Whether the chunk is known to repeat the end of the chunk before.
    fileprivate var overlaps: Bool {
        timesBefore.flatMap { before in times.map { before.seam(before: $0) } } == .repeating
    }
}

extension AudioBytes {
    /// SHA-256 of the bytes, in lower-case hex.
    func sha256() -> String {
        withBytes { bytes in
            var hash = SHA256()
            hash.update(bufferPointer: bytes)
            return Hex.encode(hash.finalize())
        }
    }
}
