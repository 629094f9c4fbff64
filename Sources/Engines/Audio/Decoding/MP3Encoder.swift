package import Basics
package import NIOCore
package import NIOPosix

/// Encodes recordings to MP3. MP3 frames can be concatenated, so that many files become one
/// stream without being held in memory.
package struct MP3Encoder: Sendable {
    private let ffmpeg: FFmpeg
    private let temporary: TemporaryFiles
    private let threads: NIOThreadPool
    /// Concurrent encodings; each ffmpeg process takes a core.
    private let slots = Slots(count: 2)

    package init(temporary: TemporaryFiles, clock: WallClock, threads: NIOThreadPool) {
        ffmpeg = FFmpeg(programs: ProgramRunner(timeLimit: .seconds(120), clock: clock))
        self.temporary = temporary
        self.threads = threads
    }

    /// Encodes a recording and emits it in pieces.
    /// - Throws: ``EngineFailure`` for undecodable audio, before any piece is emitted; errors of `emit`.
    package func encode(
        _ audio: any AudioSource, for tenant: String, _ emit: (ByteBuffer) async throws -> Void
    ) async throws {
        try await temporary.use(extension: "mp3") { path in
            try await slots.run(for: tenant) {
                let format = try await audio.read(on: threads) { try AudioFormat(reading: $0) }
                try await audio.withLocalFile { recording in
                    try await ffmpeg.convert(recording, format, to: path, as: .mp3)
                }
            }
            for try await piece in FileChunks(path: path, files: threads) { try await emit(piece) }
        }
    }
}
