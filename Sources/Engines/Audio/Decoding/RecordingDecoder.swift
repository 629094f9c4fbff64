package import Basics
package import NIOPosix
import ScribeDomain

/// Decodes recordings to WAV with 16-bit samples, with ffmpeg if it is installed.
package struct RecordingDecoder: Sendable {
    private let decodes: Bool
    private let temporary: TemporaryFiles
    private let ffmpeg: FFmpeg
    private let files: NIOThreadPool
    private let slots: Slots

    /// Creates a decoder.
    /// - Parameters:
    ///   - concurrency: most recordings that are decoded at the same time.
    ///   - decodes: whether parts of recordings are decoded. Otherwise only WAV recordings are read.
    package init(
        concurrency: Int, decodes: Bool = true, temporary: TemporaryFiles, clock: WallClock, files: NIOThreadPool
    ) {
        self.decodes = decodes
        self.temporary = temporary
        ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: .seconds(60), clock: clock))
        self.files = files
        slots = Slots(count: concurrency)
    }

    /// Reads a recording without decoding it.
    func read<Value: Sendable>(
        _ audio: any AudioSource, _ body: @escaping @Sendable (AudioBytes) -> Value?
    ) async throws -> Value? {
        try await audio.read(on: files, body)
    }

    /// Decodes a part of a recording and reads it.
    /// - Parameter range: in seconds. Bytes on disk and in memory grow with its length.
    /// - Returns: nil if the part cannot be decoded.
    func readDecoded<Value: Sendable>(
        _ audio: String, _ range: ClosedRange<Double>, for tenant: String,
        _ body: @escaping @Sendable (AudioBytes) -> Value?
    ) async throws -> Value? {
        guard decodes else { return nil }
        return try? await withDecoded(audio, range, for: tenant, channels: .mixed) {
            try await read(LocalAudio(path: $0), body)
        }
    }

    /// Number of channels of a recording.
    /// - Throws: ``EngineFailure`` for a recording that cannot be decoded.
    package func channelCount(of audio: String, for tenant: String) async throws -> Int {
        let count = try await withDecoded(audio, 0...1, for: tenant, channels: .all) { path in
            try await read(LocalAudio(path: path)) { WaveSamples($0)?.channels }
        }
        guard let count else { throw EngineFailure(.undecodableAudio, "its channels cannot be told apart") }
        return count
    }

    /// Writes one channel of a recording to a WAV file, which is deleted afterwards.
    /// - Parameter channel: its number, from 0.
    /// - Throws: ``EngineFailure`` for a recording that cannot be decoded.
    package func withChannel<Value: Sendable>(
        _ channel: Int, of audio: String, for tenant: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        try await withDecoded(audio, nil, for: tenant, channels: .only(channel), body)
    }

    private func withDecoded<Value: Sendable>(
        _ audio: String, _ range: ClosedRange<Double>?, for tenant: String, channels: FFmpeg.Channels,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        guard FFmpeg.isInstalled else { throw EngineFailure(.undecodableAudio, "ffmpeg is not installed here") }
        let format = try await files.runIfActive { try AudioFormat(reading: AudioBytes(file: audio)) }
        return try await temporary.use(extension: "wav") { path in
            try await slots.run(for: tenant) {
                do {
                    try await ffmpeg.convert(audio, format, range: range, to: path, channels: channels)
                } catch let failure as EngineFailure where failure.code == .transcriptionFailed {
                    throw EngineFailure(.undecodableAudio, "ffmpeg does not decode it")
                }
            }
            return try await body(path)
        }
    }
}
