package import ScribeDomain

/// Transcriber that also measures audio quality, and drops text that a recogniser invents in silence.
///
/// WAV files are measured directly; other files are first decoded by ffmpeg if it is installed. The fake transcriber
/// measures for itself, and only WAV, because it must answer at once.
package struct MeasuringTranscriber: WrappingTranscriber {
    package let base: any Transcriber
    private let decoder: RecordingDecoder

    package init(_ base: any Transcriber, decoder: RecordingDecoder) {
        self.base = base
        self.decoder = decoder
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        var speech = try await base.transcribe(recording)
        let measured = try await measure(recording)
        speech.duration = speech.duration ?? measured.duration
        guard let quality = measured.quality else { return speech }
        if quality.isSilent { speech = RecognisedSpeech(text: "", duration: speech.duration) }
        speech.quality = quality.value
        return speech
    }

    private func measure(_ recording: Recording) async throws -> (duration: Double?, quality: AudioQuality?) {
        let measured = try await decoder.read(recording.audio) {
            (try? AudioFormat(reading: $0).duration, AudioQuality.measure(wave: $0))
        }
        if let measured, measured.1 != nil { return measured }
        // Ten minutes suffice for the measure and limit the memory. One more second shows that the recording goes on.
        let quality = try await recording.withLocalFile { audio in
            try await decoder.readDecoded(audio, 0...601, for: recording.tenant) { AudioQuality.measure(wave: $0) }
        }
        return (measured?.0, quality)
    }
}
