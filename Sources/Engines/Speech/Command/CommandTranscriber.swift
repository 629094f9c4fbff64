import Foundation
package import NIOPosix
package import ScribeDomain

/// Runs a local program per recording and takes its standard output for the words.
///
/// In the arguments `{file}` is the upload, `{wav}` a 16 kHz mono WAV that ffmpeg makes of it, and `{language}` the
/// hint. No shell is involved. The program is ended with all its children when it takes longer than it may.
///
/// Both paths are in a folder of their own that nobody can guess. The upload's first bytes are those of its format;
/// what follows is a stranger's: the program must not guess what else the file could be, nor follow names in it.
package struct CommandTranscriber: Transcriber {
    package let name = "command"
    private let arguments: [String]
    private let temporary: TemporaryFiles
    private let programs: ProgramRunner
    private let ffmpeg: FFmpeg
    private let files: NIOThreadPool

    /// - Parameters:
    ///   - commandLine: program and arguments, split as a shell would.
    ///   - timeLimit: for ffmpeg and the program each.
    /// - Throws: ``CommandLineWords/Problem``, or ``MissingProgram`` when there is nothing to run.
    package init(
        commandLine: String, temporary: TemporaryFiles, timeLimit: Duration, clock: WallClock, files: NIOThreadPool
    ) throws {
        arguments = try CommandLineWords.split(commandLine)
        guard let program = arguments.first, !program.isEmpty else { throw CommandLineWords.Problem.noProgram }
        for argument in arguments { try Self.checkPlaceholders(in: argument) }
        guard arguments.contains(where: { $0.contains("{wav}") || $0.contains("{file}") }) else {
            throw CommandLineWords.Problem.noRecording
        }
        let needed = commandLine.contains("{wav}") ? [program, "ffmpeg"] : [program]
        for name in needed where !Self.isInstalled(name) { throw MissingProgram(name: name) }
        self.temporary = temporary
        programs = ProgramRunner(timeLimit: timeLimit, clock: clock)
        ffmpeg = FFmpeg(programs: programs)
        self.files = files
    }

    /// A program that a transcriber needs and this machine does not have.
    package struct MissingProgram: Error, Hashable, Sendable {
        package let name: String
    }

    package func probe() async -> FailedProbe? {
        let isThere = await (try? files.runIfActive { [program = arguments[0]] in Self.isInstalled(program) }) ?? true
        return isThere ? nil : FailedProbe(asked: "the program '\(arguments[0])'", answer: "it is not there")
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        try await recording.withLocalFile { try await transcribe(recording, in: $0) }
    }

    private func transcribe(_ recording: Recording, in audio: String) async throws -> RecognisedSpeech {
        let format = try await files.runIfActive { try AudioFormat(reading: AudioBytes(file: audio)) }
        // Named after what it is: programs go by the extension, and uploads are stored without one.
        let text = try await temporary.use(extension: format.container.rawValue) { upload in
            try await temporary.use(extension: "wav") { wave in
                try await files.runIfActive {
                    try FileManager.default.createSymbolicLink(
                        atPath: upload, withDestinationPath: audio)
                }
                if arguments.contains(where: { $0.contains("{wav}") }) {
                    try await makeWave(wave, of: upload, format.container)
                }
                let substituted = arguments.map {
                    $0.replacingOccurrences(of: "{file}", with: upload)
                        .replacingOccurrences(of: "{wav}", with: wave)
                        .replacingOccurrences(of: "{language}", with: recording.language ?? "")
                }
                return try await programs.run(substituted)
            }
        }
        return RecognisedSpeech(text: text.cleaned)
    }

    private func makeWave(_ wave: String, of upload: String, _ container: AudioFormat.Container) async throws {
        do {
            try await ffmpeg.convert(upload, container, to: wave)
        } catch let failure as EngineFailure where failure.code == .transcriptionFailed {
            // It may be the disk or the memory and not the audio, so it is worth another attempt.
            throw EngineFailure(.undecodableAudio, "ffmpeg could not decode it", isRetryable: true)
        }
    }

    /// - Throws: ``CommandLineWords/Problem/unknownPlaceholder(_:)`` for `{wave}` and the like, before every chunk fails.
    private static func checkPlaceholders(in argument: String) throws(CommandLineWords.Problem) {
        for match in argument.matches(of: /\{[a-z]+\}/) where !["{file}", "{wav}", "{language}"].contains(match.output)
        {
            throw .unknownPlaceholder(String(match.output))
        }
    }

    static func isInstalled(_ program: String) -> Bool {
        if program.contains("/") { return FileManager.default.isExecutableFile(atPath: program) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }
}
