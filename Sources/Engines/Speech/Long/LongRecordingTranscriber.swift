import Foundation
package import NIOPosix
package import ScribeDomain

/// Cuts recordings that are longer or larger than a recogniser takes in their pauses, has the pieces recognised one after
/// another, and puts the words together. Neither the recording nor a piece is held in memory; ffmpeg does the cutting.
package struct LongRecordingTranscriber: WrappingTranscriber {
    package let base: any Transcriber
    /// In bytes: OpenAI takes 25 MB (streaming.md 2), the form around it included.
    private static let largest = 24_000_000

    /// In seconds.
    private let longest: Double
    private let temporary: TemporaryFiles
    private let ffmpeg: FFmpeg
    private let files: NIOThreadPool

    /// - Parameters:
    ///   - longest: the longest recording that is handed on as it is.
    ///   - timeLimit: for each run of ffmpeg.
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

    /// Whether this machine has what is needed to cut.
    package static var isAvailable: Bool { FFmpeg.isInstalled }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        try await recording.withLocalFile { try await transcribe(recording, in: $0) }
    }

    private func transcribe(_ recording: Recording, in audio: String) async throws -> RecognisedSpeech {
        let (format, size) = try await files.runIfActive {
            let bytes = try AudioBytes(file: audio)
            return (try AudioFormat(reading: bytes), bytes.count)
        }
        guard format.duration > longest || size > Self.largest else { return try await base.transcribe(recording) }
        let report = try await ffmpeg.silenceReport(of: audio, format.container)
        let cuts = RecordingCuts(
            duration: format.duration, silences: RecordingCuts.silences(inReport: report), longest: longest)
        var whole = RecognisedSpeech(text: "")
        for piece in cuts.pieces {
            // Behind the end of a file whose header promises more than there is.
            guard let speech = try await self.speech(of: piece, recording, audio, format.container) else { break }
            whole.text += whole.text.isEmpty || speech.text.isEmpty ? speech.text : "\n" + speech.text
            whole.words += speech.words.map { $0.later(by: piece.lowerBound) }
            whole.warnings += speech.warnings
        }
        whole.warnings = whole.warnings.removingDuplicates()
        return whole
    }

    /// - Returns: nil where there is nothing any more.
    private func speech(
        of piece: ClosedRange<Double>, _ recording: Recording, _ audio: String,
        _ container: AudioFormat.Container
    ) async throws -> RecognisedSpeech? {
        try await temporary.use(extension: "flac") { path in
            try await ffmpeg.convert(audio, container, range: piece, to: path, as: .flac)
            let format = try await files.runIfActive { try? AudioFormat(reading: AudioBytes(file: path)) }
            guard let format, format.duration > 0.1 else { return nil }
            return try await base.transcribe(recording.part(at: path))
        }
    }
}
