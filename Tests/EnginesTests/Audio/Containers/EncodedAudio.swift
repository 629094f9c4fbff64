import Foundation

/// Two seconds of a tone in every container that clients send, encoded by ffmpeg, which `make test` installs.
enum EncodedAudio {
    static let duration = 2.0

    static let files: [String: Data] = {
        let codecs: [String: [String]] = [
            "m4a": ["-c:a", "aac", "-b:a", "48k"],
            "fragmented.m4a": ["-c:a", "aac", "-b:a", "48k", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4"],
            "mp3": ["-c:a", "libmp3lame", "-b:a", "96k", "-write_xing", "0", "-id3v2_version", "0"],
            "id3.mp3": ["-c:a", "libmp3lame", "-b:a", "64k", "-metadata", "title=chunk"],
            "vbr.mp3": ["-c:a", "libmp3lame", "-q:a", "5"],
            "wav": ["-c:a", "pcm_s16le"],
            "flac": ["-c:a", "flac"],
            "ogg": ["-c:a", "libopus", "-b:a", "32k"],
            "webm": ["-c:a", "libopus", "-b:a", "32k"],
            "live.webm": ["-c:a", "libopus", "-b:a", "32k", "-live", "1", "-f", "webm"],
            "vorbis.ogg": ["-c:a", "libvorbis"], "speex.ogg": ["-c:a", "libspeex"], "flac.ogg": ["-c:a", "flac"],
            "vorbis.webm": ["-c:a", "libvorbis"], "aac": ["-c:a", "aac", "-f", "adts"],
            "fast.m4a": ["-c:a", "aac", "-b:a", "48k", "-movflags", "faststart"],
            "alac.m4a": ["-c:a", "alac"], "aiff": ["-c:a", "pcm_s16be"], "w64": ["-c:a", "pcm_s16le"],
            "caf": ["-c:a", "pcm_s16le"], "alac.caf": ["-c:a", "alac"], "ima.aiff": ["-c:a", "adpcm_ima_qt"],
            "rf64.wav": ["-c:a", "pcm_s16le", "-rf64", "always"], "u8.wav": ["-c:a", "pcm_u8"],
            "s24.wav": ["-c:a", "pcm_s24le"], "s32.wav": ["-c:a", "pcm_s32le"], "f32.wav": ["-c:a", "pcm_f32le"],
            "f64.wav": ["-c:a", "pcm_f64le"], "alaw.wav": ["-c:a", "pcm_alaw"], "mulaw.wav": ["-c:a", "pcm_mulaw"],
            "adpcm.wav": ["-c:a", "adpcm_ms"], "96k.wav": ["-c:a", "pcm_s16le", "-ar", "96000"],
            "surround.wav": ["-c:a", "pcm_f32le", "-ac", "6"],
        ]
        return Dictionary(uniqueKeysWithValues: codecs.map { name, codec in (name, encode(name, codec)) })
    }()

    /// Three seconds of silence in an MPEG-4 file.
    static let silence = encode("silence.m4a", ["-c:a", "aac"], of: "anullsrc=sample_rate=16000:d=3")

    static func encode(
        _ name: String, _ codec: [String],
        of source: String = "sine=frequency=440:duration=\(duration):sample_rate=16000"
    ) -> Data {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("scribe-encoded-\(ProcessInfo.processInfo.processIdentifier).\(name)")
        defer { try? FileManager.default.removeItem(at: file) }
        let ffmpeg = Process()
        ffmpeg.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
        ffmpeg.arguments =
            [
                "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", source,
            ]
            + codec + [file.path]
        do {
            try ffmpeg.run()
        } catch {
            fatalError("ffmpeg is needed for these tests: make test installs it (\(error))")
        }
        ffmpeg.waitUntilExit()
        guard let data = try? Data(contentsOf: file), !data.isEmpty else { fatalError("ffmpeg made no \(name)") }
        return data
    }
}
