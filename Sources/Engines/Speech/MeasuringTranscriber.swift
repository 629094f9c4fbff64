import Foundation
package import NIOPosix
package import ScribeDomain

/// Measures how well speech can be heard, beside the recognition. What a recogniser has heard in silence is dropped:
/// some write then what is often said.
///
/// A WAV is measured as it is, anything else is decoded for that by ffmpeg, where it is installed. The fake measures
/// for itself, and only WAV: it is to answer at once.
package struct MeasuringTranscriber: Transcriber {
    private let base: any Transcriber
    private let decodes: Bool
    private let temporary: TemporaryFiles
    private let ffmpeg: FFmpeg
    private let files: NIOThreadPool
    private let slots: Slots

    /// - Parameter concurrency: how many are decoded at the same time.
    package init(
        _ base: any Transcriber, concurrency: Int, temporary: TemporaryFiles, clock: ScribeClock, files: NIOThreadPool
    ) {
        self.base = base
        decodes = FFmpeg.isInstalled
        self.temporary = temporary
        ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: .seconds(60), clock: clock))
        self.files = files
        slots = Slots(count: concurrency)
    }

    package var name: String { base.name }
    package var condition: EngineCondition { base.condition }
    package var hasFailedLast: Bool { base.hasFailedLast }
    package func probe() async -> FailedProbe? { await base.probe() }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        var speech = try await base.transcribe(recording)
        guard let quality = try await quality(of: recording) else { return speech }
        if quality.isSilent { speech = RecognisedSpeech(text: "") }
        speech.quality = quality.value
        return speech
    }

    private func quality(of recording: Recording) async throws -> AudioQuality? {
        try await recording.withLocalFile { audio in
            let measured = try await measure(audio)
            guard measured == nil, decodes else { return measured }
            let format = try await files.runIfActive { try? AudioFormat(reading: AudioBytes(file: audio)) }
            guard let format else { return nil }
            return try await slots.run(for: recording.tenant) {
                try await temporary.use(extension: "wav") { path in
                    // Ten minutes are enough to judge by, and never hold much. A second more shows that there is more.
                    let decoded: Void? = try? await ffmpeg.convert(audio, format.container, range: 0...601, to: path)
                    return decoded == nil ? nil : try await measure(path)
                }
            }
        }
    }

    private func measure(_ path: String) async throws -> AudioQuality? {
        try await files.runIfActive { AudioQuality.measure(wave: try AudioBytes(file: path)) }
    }
}
