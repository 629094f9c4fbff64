import Crypto
import Foundation
package import NIOPosix
package import ScribeDomain

/// Says what a fixture says, else a passage of one plausible consultation as long as the audio is.
///
/// A pure function of the audio's bytes, the chunk's number, whether the one before it overlaps, the language and the
/// fixture that it plays.
package struct FakeTranscriber: Transcriber {
    package let name = "fake"
    /// Of what cannot be measured at once.
    private static let usualQuality = 0.9
    private static let silence =
        "No speech found: the audio is silent; for a transcript of silent test audio use fixture:follow-up"
    private let fixturesByHash: [String: Fixture]
    /// The fixture that is played whatever the audio is; nil plays what its bytes say.
    private var played: Played?
    private let consultations: [String: FakeSpeech]
    private let clock: WallClock
    private let files: NIOThreadPool
    private let atOnce: Int

    /// - Parameters:
    ///   - files: threads that may block.
    ///   - atOnce: what is read without asking one of them, in bytes.
    package init(fixtures: FixtureSet, clock: WallClock, files: NIOThreadPool, atOnce: Int = 0) {
        self.fixturesByHash = Dictionary(
            fixtures.fixtures.compactMap { fixture in fixture.sha256.map { ($0.lowercased(), fixture) } },
            uniquingKeysWith: { first, _ in first }
        )
        self.consultations = fixtures.consultation.filter { !$0.value.isEmpty }.mapValues(FakeSpeech.init(passages:))
        self.clock = clock
        self.files = files
        self.atOnce = atOnce
    }

    /// Unless fixtures make chunks wait, each for itself.
    package var isInstant: Bool { fixturesByHash.values.allSatisfy { $0.delay == nil } }

    private enum Played {
        case fixture(Fixture)
        case unknown
    }

    /// The same, playing a fixture that a user has asked for.
    /// - Parameter fixture: nil where there is none of that name, of which every recording then fails.
    package func playing(_ fixture: Fixture?) -> FakeTranscriber {
        var player = self
        player.played = fixture.map(Played.fixture) ?? .unknown
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
        let heard = try await recording.withLocalFile { path in
            if atOnce > 0, let bytes = try AudioBytes.read(path, upTo: atOnce) { return Heard(bytes, needsHash) }
            return try await files.runIfActive { Heard(try AudioBytes(file: path), needsHash) }
        }
        if let hash = heard.hash, let fixture = fixturesByHash[hash] {
            chosen = fixture
            if let delay = fixture.delay { try await clock.sleep(for: .seconds(delay), as: .fixture) }
        }
        if let code = chosen?.failure { throw EngineFailure(code, "the fixture says so") }
        let duration = try heard.format.get().duration
        // What a fixture says is said whatever the audio is.
        if chosen == nil, heard.quality?.isSilent == true {
            return RecognisedSpeech(
                text: "", warnings: [Diagnostic(.noSpeech, Self.silence)], quality: 0, duration: duration)
        }
        let warnings = chosen?.warning.map { [Diagnostic($0, "The fixture asked for this warning")] } ?? []
        var speech = RecognisedSpeech(
            text: text(of: recording, lasting: duration, fixture: chosen), warnings: warnings,
            quality: heard.quality?.value ?? Self.usualQuality,
            confidence: warnings.contains { $0.code == .lowConfidence } ? 0.4 : 0.95, duration: duration)
        speech.language = language(of: recording)
        return speech
    }

    /// The fake's language when it has no passages in the one that was asked for.
    private static let usualLanguage = "en"

    private func language(of recording: Recording) -> String {
        let wanted = recording.language?.prefix { $0 != "-" }.lowercased() ?? Self.usualLanguage
        return consultations[wanted] == nil ? Self.usualLanguage : wanted
    }

    /// What a file tells of itself.
    private struct Heard: Sendable {
        let format: Result<AudioFormat, EngineFailure>
        let hash: String?
        /// nil when the file is no WAV, which counts as speech.
        let quality: AudioQuality?

        init(_ bytes: AudioBytes, _ needsHash: Bool) {
            format = Result { () throws(EngineFailure) in try AudioFormat(reading: bytes) }
            hash = needsHash ? bytes.sha256() : nil
            quality = AudioQuality.measure(wave: bytes)
        }
    }

    private func text(of recording: Recording, lasting duration: Double, fixture: Fixture?) -> String {
        if let text = fixture?.text { return text }
        if let passages = fixture?.passages, !passages.isEmpty {
            return passages[min(max(recording.ordinal, 1), passages.count) - 1]
        }
        return consultations[language(of: recording)]?.text(
            ofChunk: recording.ordinal, lasting: duration, overlaps: recording.overlaps) ?? ""
    }
}

/// How much of a consultation fits into a chunk.
struct FakeSpeech {
    /// Each as its sentences, each of them as its words.
    private let passages: [[[Substring]]]

    /// - Parameter passages: one at least.
    init(passages: [String]) { self.passages = passages.map(Self.sentences(of:)) }

    /// The pace of unhurried speech.
    static let wordsPerSecond = 2.5
    /// The most that is said, however long a file claims to be, in seconds.
    static let longestSpeech = 3600.0
    /// The most that is a chunk of a longer recording, in seconds: clients cut at 25 s at the latest (eka.md 3.1).
    static let longestChunk = 30.0
    /// What is spoken in the half second by which chunks overlap.
    static let seamWords = 2

    /// Chunk n begins with the last words of chunk n − 1, as overlapping audio does, and always ends with the last
    /// sentence of its passage, so that what the next chunk repeats does not depend on this one's length.
    /// - Parameter overlaps: false where nothing of the one before is heard.
    func text(ofChunk ordinal: Int, lasting duration: Double, overlaps: Bool) -> String {
        let position = max(ordinal, 1) - 1
        var sentences = sentences(ofPassage: position)
        let closing = sentences.removeLast()
        var next = position + 1
        var budget = Int(min(duration, Self.longestSpeech) * Self.wordsPerSecond) - closing.count
        var spoken: [[Substring]] = []
        while budget > 0 {
            if sentences.isEmpty {
                // What follows is said by the next chunk. A longer file is a recording of its own, and goes on.
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

    /// The sentences of a passage; the consultation begins again when it is over.
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
    /// Whether the end of what was recorded before it is known to be heard again at its start.
    fileprivate var overlaps: Bool { timesBefore.flatMap { before in times.map(before.overlaps) } ?? false }
}

extension AudioBytes {
    /// Lower-case hex.
    func sha256() -> String {
        withData { SHA256.hash(data: $0).map { String(format: "%02x", $0) }.joined() }
    }
}
