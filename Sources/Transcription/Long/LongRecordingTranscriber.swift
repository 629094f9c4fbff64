import Foundation
package import NIOPosix
package import ScribeDomain

/// Cuts recordings that are longer or larger than a recogniser takes in their pauses, has the pieces recognised one after
/// another, and puts the words together. Neither the recording nor a piece is held in memory; ffmpeg does the cutting.
package struct LongRecordingTranscriber: Transcriber {
    private let base: any Transcriber
    /// In bytes: OpenAI takes 25 MB (streaming.md 2), the form around it included.
    private static let largest = 24_000_000

    /// In seconds.
    private let longest: Double
    private let temporary: TemporaryFiles
    private let programs: ProgramRunner
    private let files: NIOThreadPool

    /// - Parameters:
    ///   - longest: the longest recording that is handed on as it is.
    ///   - timeLimit: for each run of ffmpeg.
    package init(
        _ base: any Transcriber, longest: Duration, temporary: TemporaryFiles, timeLimit: Duration, clock: ScribeClock,
        files: NIOThreadPool
    ) {
        self.base = base
        self.longest = longest / .seconds(1)
        self.temporary = temporary
        programs = ProgramRunner(timeLimit: timeLimit, clock: clock)
        self.files = files
    }

    /// Whether this machine has what is needed to cut.
    package static var isAvailable: Bool { CommandTranscriber.isInstalled("ffmpeg") }

    package var name: String { base.name }
    package var condition: TranscriberCondition { base.condition }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        let (format, size) = try await files.runIfActive {
            let bytes = try AudioBytes(file: recording.path)
            return (try AudioFormat(reading: bytes), bytes.count)
        }
        guard format.duration > longest || size > Self.largest else { return try await base.transcribe(recording) }
        let report = try await programs.run(
            [
                "ffmpeg", "-nostdin", "-hide_banner", "-nostats", "-i", recording.path, "-af",
                "silencedetect=noise=-35dB:d=0.4", "-f", "null", "-",
            ], reading: .errors)
        let cuts = RecordingCuts(
            duration: format.duration, silences: RecordingCuts.silences(inReport: report), longest: longest)
        var whole = RecognisedSpeech(text: "")
        for piece in cuts.pieces {
            let speech = try await self.speech(of: piece, recording)
            whole.text += whole.text.isEmpty || speech.text.isEmpty ? speech.text : "\n" + speech.text
            whole.words += speech.words.map { $0.later(by: piece.lowerBound) }
            whole.warnings += speech.warnings
        }
        whole.warnings = whole.warnings.removingDuplicates()
        return whole
    }

    private func speech(of piece: ClosedRange<Double>, _ recording: Recording) async throws -> RecognisedSpeech {
        try await temporary.use(extension: "flac") { path in
            // What recognisers make of any audio themselves, and small enough for those that limit the size.
            _ = try await programs.run([
                "ffmpeg", "-nostdin", "-v", "error", "-y", "-ss", "\(piece.lowerBound)", "-to", "\(piece.upperBound)",
                "-i", recording.path, "-ar", "16000", "-ac", "1", "-c:a", "flac", path,
            ])
            // The rest behind the last cut, or behind the end of a file whose header promises more than there is.
            let format = try await files.runIfActive { try? AudioFormat(reading: AudioBytes(file: path)) }
            guard let format, format.duration > 0.1 else { return RecognisedSpeech(text: "") }
            return try await base.transcribe(recording.part(at: path))
        }
    }
}
