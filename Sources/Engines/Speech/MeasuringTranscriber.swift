package import ScribeDomain

/// Transcriber that also measures audio quality, and drops text that a recogniser invents in silence.
///
/// WAV files are measured directly; other files are first decoded by ffmpeg if it is installed. The fake transcriber
/// measures for itself, and only WAV, because it must answer at once.
package struct MeasuringTranscriber: WrappingTranscriber {
    package let base: any Transcriber
    private let decoder: WaveDecoder

    package init(_ base: any Transcriber, decoder: WaveDecoder) {
        self.base = base
        self.decoder = decoder
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        var speech = try await base.transcribe(recording)
        guard let quality = try await quality(of: recording) else { return speech }
        if quality.isSilent { speech = RecognisedSpeech(text: "") }
        speech.quality = quality.value
        return speech
    }

    private func quality(of recording: Recording) async throws -> AudioQuality? {
        try await recording.withLocalFile { audio in
            if let quality = try await decoder.read(audio, { AudioQuality.measure(wave: $0) }) { return quality }
            // Ten minutes suffice for the measure and limit the memory. One more
            // second shows that the recording goes on.
            return try await decoder.readDecoded(audio, 0...601, for: recording.tenant) {
                AudioQuality.measure(wave: $0)
            }
        }
    }
}
