import ScribeDomain
import Subprocess

/// The one place that starts ffmpeg.
///
/// What it reads was sent by strangers, and left to itself it would guess the format by the first bytes: a playlist
/// that goes on as MP3 would then name other files for it to read. So it is told the format that was found, may use no
/// other and no protocol but that of files, and decodes the first audio track alone.
struct FFmpeg: Sendable {
    private let programs: ProgramRunner

    init(programs: ProgramRunner) { self.programs = programs }

    /// Whether this machine has it.
    static var isInstalled: Bool { CommandTranscriber.isInstalled("ffmpeg") }

    /// What is made of a recording.
    enum Output: String, Sendable {
        /// 16-bit samples.
        case wav
        /// What recognisers make of any audio themselves, and small enough for those that limit the size.
        case flac
        /// What every player takes; frames that may follow those of another file.
        case mp3

        fileprivate var codec: [String] {
            switch self {
            case .wav: ["-c:a", "pcm_s16le"]
            case .flac: []
            case .mp3: ["-c:a", "libmp3lame", "-b:a", "64k", "-write_xing", "0", "-id3v2_version", "0"]
            }
        }
    }

    /// Writes a recording to a new file as 16 kHz mono.
    /// - Parameter range: in seconds; nil for all of it.
    /// - Throws: ``EngineFailure``.
    func convert(
        _ recording: String, _ container: AudioFormat.Container, range: ClosedRange<Double>? = nil, to path: String,
        as output: Output = .wav
    ) async throws {
        let cut = range.map { ["-ss", "\($0.lowerBound)", "-to", "\($0.upperBound)"] } ?? []
        _ = try await programs.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-y"] + cut + Self.input(recording, container)
                + ["-ar", "16000", "-ac", "1"] + output.codec
                + ["-f", output.rawValue, path])
    }

    /// What `silencedetect` reports of a recording.
    /// - Throws: ``EngineFailure``.
    func silenceReport(of recording: String, _ container: AudioFormat.Container) async throws -> String {
        try await programs.run(
            ["ffmpeg", "-nostdin", "-hide_banner", "-nostats"] + Self.input(recording, container)
                + ["-af", "silencedetect=noise=-35dB:d=0.4", "-f", "null", "-"],
            reading: .errors)
    }

    /// A process that makes 16-bit samples of a stream on its input, as it comes.
    static func streaming(_ codec: StreamCodec, sampleRate: Int, channels: Int) -> Subprocess.Configuration {
        var options = PlatformOptions()
        options.teardownSequence = []
        return Subprocess.Configuration(
            executable: .name("ffmpeg"),
            arguments: Arguments(
                [
                    "-nostdin", "-v", "quiet", "-protocol_whitelist", "pipe", "-format_whitelist", codec.demuxer,
                    "-probesize", "8192", "-analyzeduration", "0", "-f", codec.demuxer,
                    "-i", "pipe:0", "-map", "0:a:0", "-ar", "\(sampleRate)", "-ac", "\(channels)", "-flush_packets",
                    "1",
                    "-f", "s16le", "pipe:1",
                ]),
            platformOptions: options)
    }

    private static func input(_ recording: String, _ container: AudioFormat.Container) -> [String] {
        let demuxer = container.demuxer
        return [
            "-protocol_whitelist", "file", "-format_whitelist", demuxer, "-f", demuxer, "-i", "file:\(recording)",
            "-map", "0:a:0",
        ]
    }
}

extension AudioFormat.Container {
    /// ffmpeg's name for what reads it.
    fileprivate var demuxer: String {
        switch self {
        case .wav: "wav"
        case .mp3: "mp3"
        case .m4a: "mov"
        case .webm: "matroska"
        case .ogg: "ogg"
        case .flac: "flac"
        }
    }
}
