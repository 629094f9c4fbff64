package import Basics
import Foundation
package import NIOPosix
package import ScribeDomain

/// Transcriber for recordings that exceed a recogniser's length or size. ffmpeg cuts them at pauses, the pieces are
/// recognised one after another, and the words are joined. Neither recording nor piece is held in memory.
package struct LongRecordingTranscriber: WrappingTranscriber {
    package let base: any Transcriber
    /// Largest upload in bytes: OpenAI accepts 25 MB, including the form (streaming.md 2).
    private static let largest = 24_000_000

    /// Longest recording that is not cut, in seconds.
    private let longest: Double
    private let temporary: TemporaryFiles
    private let ffmpeg: FFmpeg
    private let files: NIOThreadPool

    /// Wraps a transcriber.
    /// - Parameters:
    ///   - longest: longest recording that is passed on whole.
    ///   - timeLimit: time limit of each ffmpeg run.
    package init(
        _ base: any Transcriber, longest: Duration, temporary: TemporaryFiles, timeLimit: Duration, clock: WallClock,
        files: NIOThreadPool
    ) {
        self.base = base
        self.longest = longest / .seconds(1)
        self.temporary = temporary
        ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: timeLimit, clock: clock))
        self.files = files
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        let (format, size) = try await recording.audio.read(on: files) { (try AudioFormat(reading: $0), $0.count) }
        guard format.duration > longest || size > Self.largest || !format.isPlain else {
            return try await base.transcribe(recording)
        }
        return try await recording.withLocalFile { try await transcribe(recording, format, in: $0) }
    }

    private func transcribe(
        _ recording: Recording, _ format: AudioFormat, in audio: String
    ) async throws -> RecognisedSpeech {
        let report = try await ffmpeg.silenceReport(of: audio, format)
        let cuts = RecordingCuts(
            duration: format.duration, silences: RecordingCuts.silences(inReport: report), longest: longest)
        var whole = RecognisedSpeech(text: "")
        for piece in cuts.pieces {
            // The header may promise more audio than the file has; the pieces end there.
            guard let speech = try await self.speech(of: piece, recording, audio, format) else { break }
            whole.text += whole.text.isEmpty || speech.text.isEmpty ? speech.text : "\n" + speech.text
            whole.words += speech.words.map { $0.later(by: piece.lowerBound) }
            whole.warnings += speech.warnings
        }
        whole.warnings = whole.warnings.removingDuplicates()
        return whole
    }

    /// Recognises one piece; nil beyond the end of the recording.
    private func speech(
        of piece: ClosedRange<Double>, _ recording: Recording, _ audio: String,
        _ format: AudioFormat
    ) async throws -> RecognisedSpeech? {
        try await temporary.use(extension: "flac") { path in
            try await ffmpeg.convert(audio, format, range: piece, to: path, as: .flac)
            let piece = try await files.runIfActive { try? AudioFormat(reading: AudioBytes(file: path)) }
            guard let piece, piece.duration > 0.1 else { return nil }
            return try await base.transcribe(recording.part(at: path))
        }
    }
}
