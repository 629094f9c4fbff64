import Foundation
package import NIOPosix
package import ScribeDomain
import Subprocess
import SystemPackage

/// Runs a local program per recording and takes its standard output for the words.
///
/// In the arguments `{file}` is the upload, `{wav}` a 16 kHz mono WAV that ffmpeg makes of it, and `{language}` the
/// hint. No shell is involved. The program is ended with all its children when it takes longer than it may.
package struct CommandTranscriber: Transcriber {
    package let name = "command"
    private let arguments: [String]
    private let workFolder: String
    private let timeLimit: Duration
    private let clock: ScribeClock
    private let files: NIOThreadPool

    /// How much a program may say.
    static let outputLimit = 1 << 20

    /// - Parameters:
    ///   - commandLine: program and arguments, split as a shell would.
    ///   - workFolder: an existing folder for files that live as long as a recognition.
    ///   - timeLimit: for ffmpeg and the program each.
    /// - Throws: ``CommandLineWords/Problem``, or ``MissingProgram`` when there is nothing to run.
    package init(
        commandLine: String, workFolder: String, timeLimit: Duration, clock: ScribeClock, files: NIOThreadPool
    ) throws {
        arguments = try CommandLineWords.split(commandLine)
        guard let program = arguments.first, !program.isEmpty else { throw CommandLineWords.Problem.noProgram }
        for argument in arguments { try Self.checkPlaceholders(in: argument) }
        let needed = commandLine.contains("{wav}") ? [program, "ffmpeg"] : [program]
        for name in needed where !Self.isInstalled(name) { throw MissingProgram(name: name) }
        self.workFolder = workFolder
        self.timeLimit = timeLimit
        self.clock = clock
        self.files = files
    }

    /// A program that a transcriber needs and this machine does not have.
    package struct MissingProgram: Error, Hashable, Sendable {
        package let name: String
    }

    package func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        let format = try await files.runIfActive { try AudioFormat(reading: AudioBytes(file: recording.path)) }
        // Named after what it is: programs go by the extension, and uploads are stored without one.
        let stem = "\(workFolder)/\((recording.path as NSString).lastPathComponent)-\(recording.ordinal)"
        let upload = "\(stem).\(format.container.rawValue)"
        let wave = "\(stem)-16k.wav"
        try await files.runIfActive {
            try? FileManager.default.removeItem(atPath: upload)
            try FileManager.default.createSymbolicLink(atPath: upload, withDestinationPath: recording.path)
        }
        let words: Result<String, any Error>
        do {
            if arguments.contains(where: { $0.contains("{wav}") }) { try await makeWave(wave, of: upload) }
            let substituted = arguments.map {
                $0.replacingOccurrences(of: "{file}", with: upload)
                    .replacingOccurrences(of: "{wav}", with: wave)
                    .replacingOccurrences(of: "{language}", with: recording.language ?? "")
            }
            words = .success(try await run(substituted))
        } catch {
            words = .failure(error)
        }
        try await files.runIfActive {
            for path in [upload, wave] { try? FileManager.default.removeItem(atPath: path) }
        }
        // A NUL would end the text wherever it is kept as a C string.
        let text = try words.get().replacing("\0", with: "")
        return RecognisedSpeech(text: text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func makeWave(_ wave: String, of upload: String) async throws {
        do {
            _ = try await run([
                "ffmpeg", "-nostdin", "-v", "error", "-y", "-i", upload, "-ar", "16000", "-ac", "1",
                "-c:a", "pcm_s16le", wave,
            ])
        } catch let failure as TranscriptionFailure where failure.code == .transcriptionFailed {
            // It may be the disk or the memory and not the audio, so it is worth another attempt.
            throw TranscriptionFailure(.undecodableAudio, "ffmpeg could not decode it", isRetryable: true)
        }
    }

    private func run(_ words: [String]) async throws -> String {
        var options = PlatformOptions()
        // A group of its own, so that children that the program leaves behind end with it.
        options.processGroupID = 0
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: .milliseconds(500))
        ]
        let program = words[0]
        let configuration = Subprocess.Configuration(
            executable: program.contains("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(Array(words.dropFirst())),
            platformOptions: options
        )
        return try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask {
                let result: ExecutionResult<Void, StringOutput<UTF8>, DiscardedOutput>
                do {
                    result = try await Subprocess.run(
                        configuration, input: .none, output: .string(limit: Self.outputLimit), error: .discarded
                    )
                } catch let error as SubprocessError {
                    throw TranscriptionFailure(.transcriptionFailed, "\(program): \(error)", isRetryable: true)
                }
                guard result.terminationStatus.isSuccess else {
                    throw TranscriptionFailure(
                        .transcriptionFailed, "\(program): \(result.terminationStatus)", isRetryable: true
                    )
                }
                return result.standardOutput
            }
            group.addTask {
                try await clock.sleep(for: timeLimit)
                throw TranscriptionFailure(.transcriptionTimeout, "\(program) took longer than \(timeLimit)")
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    /// - Throws: ``CommandLineWords/Problem/unknownPlaceholder(_:)`` for `{wave}` and the like, before every chunk fails.
    private static func checkPlaceholders(in argument: String) throws(CommandLineWords.Problem) {
        for match in argument.matches(of: /\{[a-z]+\}/) where !["{file}", "{wav}", "{language}"].contains(match.output)
        {
            throw .unknownPlaceholder(String(match.output))
        }
    }

    private static func isInstalled(_ program: String) -> Bool {
        if program.contains("/") { return FileManager.default.isExecutableFile(atPath: program) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }
}
