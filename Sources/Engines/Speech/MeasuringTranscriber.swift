package import ScribeDomain

/// Measures how well speech can be heard, beside the recognition. What a recogniser has heard in silence is dropped:
/// some write then what is often said.
///
/// A WAV is measured as it is, anything else is decoded for that by ffmpeg, where it is installed. The fake measures
/// for itself, and only WAV: it is to answer at once.
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
            // Ten minutes are enough to judge by, and never hold much. A second more shows that there is more.
            return try await decoder.readDecoded(audio, 0...601, for: recording.tenant) {
                AudioQuality.measure(wave: $0)
            }
        }
    }
}
