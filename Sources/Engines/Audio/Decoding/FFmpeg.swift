import Subprocess

/// Runner of ffmpeg, the only place that starts it.
///
/// The input is untrusted. ffmpeg would guess its format by the first bytes: a playlist disguised as MP3 could name
/// other files to read. So ffmpeg is limited to the detected format, to the file protocol and to the first audio track.
package struct FFmpeg: Sendable {
    private let programs: ProgramRunner

    init(programs: ProgramRunner) { self.programs = programs }

    /// Whether this machine has ffmpeg.
    package static var isInstalled: Bool { CommandTranscriber.isInstalled("ffmpeg") }

    /// Output format of a conversion.
    enum Output: String, Sendable {
        /// WAV with 16-bit samples.
        case wav
        /// FLAC, which all recognisers decode, and small enough for services with a size limit.
        case flac
        /// MP3, which every player takes. Its frames can follow the frames of another file.
        case mp3

        fileprivate var codec: [String] {
            switch self {
            case .wav: ["-c:a", "pcm_s16le"]
            case .flac: []
            case .mp3: ["-c:a", "libmp3lame", "-b:a", "64k", "-write_xing", "0", "-id3v2_version", "0"]
            }
        }
    }

    /// Channels of a conversion.
    enum Channels: Sendable {
        /// One channel, mixed from all.
        case mixed
        case all
        /// One channel by its number, from 0.
        case only(Int)
    }

    /// Converts a recording, or a range of it, to a new file of 16 kHz.
    /// - Parameter range: in seconds; nil for the whole recording.
    /// - Throws: ``EngineFailure``.
    func convert(
        _ recording: String, _ format: AudioFormat, range: ClosedRange<Double>? = nil, to path: String,
        as output: Output = .wav, channels: Channels = .mixed
    ) async throws {
        let cut = range.map { ["-ss", "\($0.lowerBound)", "-to", "\($0.upperBound)"] } ?? []
        let (filter, count) =
            switch channels {
            case .mixed: ("anull", ["-ac", "1"])
            case .all: ("anull", [])
            case .only(let channel): ("pan=mono|c0=c\(channel)", [])
            }
        _ = try await programs.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-y"]
                + Self.input(recording, format, from: cut, through: filter) + ["-ar", "16000"] + count + output.codec
                + ["-f", output.rawValue, path])
    }

    /// Runs `silencedetect` on a recording and returns its report.
    /// - Throws: ``EngineFailure``.
    func silenceReport(of recording: String, _ format: AudioFormat) async throws -> String {
        try await programs.run(
            ["ffmpeg", "-nostdin", "-hide_banner", "-nostats"]
                + Self.input(recording, format, through: "silencedetect=noise=-35dB:d=0.4") + ["-f", "null", "-"],
            reading: .errors)
    }

    /// Configuration of a process that decodes a stream on standard input to 16-bit samples.
    static func streaming(_ demuxer: String, sampleRate: Int, channels: Int) -> Subprocess.Configuration {
        var options = PlatformOptions()
        options.teardownSequence = []
        return Subprocess.Configuration(
            executable: .name("ffmpeg"),
            arguments: Arguments(
                [
                    "-nostdin", "-v", "quiet", "-protocol_whitelist", "pipe", "-format_whitelist", demuxer,
                    "-probesize", "8192", "-analyzeduration", "0", "-f", demuxer,
                    "-i", "pipe:0", "-map", "0:a:0", "-ar", "\(sampleRate)", "-ac", "\(channels)", "-flush_packets",
                    "1",
                    "-f", "s16le", "pipe:1",
                ]),
            platformOptions: options)
    }

    /// Options that name the input, and the filter of its sound.
    /// - Parameter cut: options of a range.
    private static func input(
        _ recording: String, _ format: AudioFormat, from cut: [String] = [], through filter: String
    ) -> [String] {
        let options = ["-format_whitelist", format.container.demuxer, "-f", format.container.demuxer]
        guard !format.isPlain else {
            return cut + ["-protocol_whitelist", "file"] + options
                + ["-i", "file:\(recording)", "-map", "0:a:0", "-af", filter]
        }
        let inputs = format.parts.flatMap { part in
            ["-protocol_whitelist", "file,subfile"] + options
                + ["-i", "subfile,,start,\(part.lowerBound),end,\(part.upperBound),,:file:\(recording)"]
        }
        let streams = format.parts.indices.map { "[\($0):a:0]" }.joined()
        // Behind the inputs, the range counts over all of them.
        return inputs + ["-filter_complex", "\(streams)concat=n=\(format.parts.count):v=0:a=1,\(filter)"] + cut
    }
}
