import Basics
import ScribeDomain
import Subprocess
import SystemPackage

/// Runs local programs without a shell. After the time limit a program and all its children are killed.
struct ProgramRunner: Sendable {
    /// Output stream that carries a program's result.
    enum Source: Sendable {
        case output
        case errors
    }

    /// Most output of a program, in bytes.
    static let outputLimit = 1 << 20

    let timeLimit: Duration
    let clock: WallClock

    /// Runs a program and returns its output.
    /// - Parameter words: program and arguments.
    /// - Throws: ``EngineFailure`` if the program fails or exceeds the time limit, or `CancellationError`.
    func run(_ words: [String], reading source: Source = .output) async throws -> String {
        var options = PlatformOptions()
        // A process group of its own, so that surviving children are killed with the program.
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
        let late = EngineFailure(.transcriptionTimeout, "\(program) took longer than \(timeLimit)")
        return try await withTimeLimit(timeLimit, clock: clock, failure: late) {
            do {
                return try await Self.said(configuration, program, source)
            } catch let error as SubprocessError {
                throw EngineFailure(.transcriptionFailed, "\(program): \(error)", isRetryable: true)
            }
        }
    }

    private static func said(
        _ configuration: Subprocess.Configuration, _ program: String, _ source: Source
    ) async throws -> String {
        func check(_ status: TerminationStatus) throws {
            guard !status.isSuccess else { return }
            throw EngineFailure(.transcriptionFailed, "\(program): \(status)", isRetryable: true)
        }
        switch source {
        case .output:
            let result = try await Subprocess.run(
                configuration, input: .none, output: .string(limit: outputLimit, encoding: UTF8.self), error: .discarded
            )
            try check(result.terminationStatus)
            return result.standardOutput
        case .errors:
            let result = try await Subprocess.run(
                configuration, input: .none, output: .discarded, error: .string(limit: outputLimit, encoding: UTF8.self)
            )
            try check(result.terminationStatus)
            return result.standardError
        }
    }
}
