package import NIOPosix
package import ScribeDomain

/// Decodes recordings to WAV with 16-bit samples, with ffmpeg if it is installed.
package struct WaveDecoder: Sendable {
    private let decodes: Bool
    private let temporary: TemporaryFiles
    private let ffmpeg: FFmpeg
    private let files: NIOThreadPool
    private let slots: Slots

    /// Creates a decoder.
    /// - Parameters:
    ///   - concurrency: most recordings that are decoded at the same time.
    ///   - decodes: whether ffmpeg is used. Without it only WAV recordings can be read.
    package init(
        concurrency: Int, decodes: Bool = true, temporary: TemporaryFiles, clock: WallClock, files: NIOThreadPool
    ) {
        self.decodes = decodes && FFmpeg.isInstalled
        self.temporary = temporary
        ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: .seconds(60), clock: clock))
        self.files = files
        slots = Slots(count: concurrency)
    }

    /// Reads a recording without decoding it.
    func read<Value: Sendable>(
        _ audio: String, _ body: @escaping @Sendable (AudioBytes) -> Value?
    ) async throws -> Value? {
        try await files.runIfActive { body(try AudioBytes(file: audio)) }
    }

    /// Decodes a part of a recording and reads it.
    /// - Parameter range: in seconds. Bytes on disk and in memory grow with its length.
    /// - Returns: nil if the part cannot be decoded.
    func readDecoded<Value: Sendable>(
        _ audio: String, _ range: ClosedRange<Double>, for tenant: String,
        _ body: @escaping @Sendable (AudioBytes) -> Value?
    ) async throws -> Value? {
        guard decodes else { return nil }
        let format = try await files.runIfActive { try? AudioFormat(reading: AudioBytes(file: audio)) }
        guard let format else { return nil }
        return try await slots.run(for: tenant) {
            try await temporary.use(extension: "wav") { path in
                let decoded: Void? = try? await ffmpeg.convert(audio, format, range: range, to: path)
                return decoded == nil ? nil : try await read(path, body)
            }
        }
    }
}
