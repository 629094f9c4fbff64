package import Basics
import Foundation
package import NIOPosix
package import ScribeDomain

/// Transcriber that runs a local program per recording and reads the words from its standard output.
///
/// In the arguments `{file}` is the upload, `{wav}` a 16 kHz mono WAV that ffmpeg makes of it, and `{language}` the
/// language hint. No shell is involved. After the time limit the program and all its children are killed.
///
/// Both files lie in a private folder with an unguessable name. The upload's first bytes match its format, but the rest
/// is untrusted: the program must neither guess another format nor follow file names in it.
package struct CommandTranscriber: Transcriber {
    package let name = "command"
    private let arguments: [String]
    private let temporary: TemporaryFiles
    private let programs: ProgramRunner
    private let ffmpeg: FFmpeg
    private let files: NIOThreadPool

    /// Parses the command line.
    /// - Parameters:
    ///   - commandLine: program and arguments, split like a shell does.
    ///   - timeLimit: time limit of ffmpeg and of the program each.
    /// - Throws: ``CommandLineWords/Problem``, or ``MissingProgram`` if the program does not exist.
    package init(
        commandLine: String, temporary: TemporaryFiles, timeLimit: Duration, clock: WallClock, files: NIOThreadPool
    ) throws {
        arguments = try Self.arguments(of: commandLine)
        self.temporary = temporary
        programs = ProgramRunner(timeLimit: timeLimit, clock: clock)
        ffmpeg = FFmpeg(programs: programs)
        self.files = files
    }

    /// Splits a command line, and checks its placeholders and that its programs are installed.
    /// - Throws: ``CommandLineWords/Problem``, ``MissingProgram``.
    package static func arguments(of commandLine: String) throws -> [String] {
        let arguments = try CommandLineWords.split(commandLine)
        guard let program = arguments.first, !program.isEmpty else { throw CommandLineWords.Problem.noProgram }
        for argument in arguments { try Self.checkPlaceholders(in: argument) }
        guard arguments.contains(where: { $0.contains("{wav}") || $0.contains("{file}") }) else {
            throw CommandLineWords.Problem.noRecording
        }
        let needed = commandLine.contains("{wav}") ? [program, "ffmpeg"] : [program]
        for name in needed where !Self.isInstalled(name) { throw MissingProgram(name: name) }
        return arguments
    }

    /// Thrown if this machine lacks a program that the transcriber needs.
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
        // The extension names the format: programs rely on it, and uploads are stored without one.
        let text = try await temporary.use(extension: format.container.rawValue) { upload in
            try await temporary.use(extension: "wav") { wave in
                try await files.runIfActive {
                    try FileManager.default.createSymbolicLink(
                        atPath: upload, withDestinationPath: audio)
                }
                if arguments.contains(where: { $0.contains("{wav}") }) {
                    try await makeWave(wave, of: upload, format)
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

    private func makeWave(_ wave: String, of upload: String, _ format: AudioFormat) async throws {
        do {
            try await ffmpeg.convert(upload, format, to: wave)
        } catch let failure as EngineFailure where failure.code == .transcriptionFailed {
            // The cause may be the disk or the memory instead of the audio, so another attempt is worthwhile.
            throw EngineFailure(.undecodableAudio, "ffmpeg could not decode it", isRetryable: true)
        }
    }

    /// Checks for misspelt placeholders such as `{wave}` at start, instead of failing every chunk.
    /// - Throws: ``CommandLineWords/Problem/unknownPlaceholder(_:)``.
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
