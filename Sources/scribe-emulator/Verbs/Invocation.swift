import ArgumentParser
import Basics
import Foundation
import SystemPackage

/// Run of the command, with all that it takes from its process: arguments, environment variables and standard streams.
/// Tests run the command with other ones, without a process.
struct Invocation: Sendable {
    let arguments: [String]
    /// The variables as the process has them, for its children.
    let inheritedEnvironment: [String: String]
    /// Whether the command may change the signals, the limits, the allocator and the log of its process.
    let ownsProcess: Bool
    /// Reads standard input to its end.
    let readInput: @Sendable () throws -> Data
    /// Writes a text to standard output.
    let writeOutput: @Sendable (String) -> Void
    /// Writes UTF-8 to standard error, in one piece.
    let writeError: @Sendable ([UInt8]) -> Void
    /// Descriptors that the process was started with, beside its standard streams.
    var inheritedFiles: Set<Int32> = []
    /// Parent of the process at its start.
    let parent = getppid()

    /// The invocation that the current task belongs to.
    @TaskLocal static var current = process

    /// The invocation of this process.
    static let process = Invocation(
        arguments: Array(CommandLine.arguments.dropFirst()),
        inheritedEnvironment: ProcessInfo.processInfo.environment, ownsProcess: true,
        readInput: { try FileHandle.standardInput.readToEnd() ?? Data() },
        writeOutput: { Swift.print($0, terminator: "") },
        // Output that cannot be written, as on a full disk, is lost: a server must not end because of its log.
        writeError: { _ = try? FileDescriptor.standardError.writeAll($0) },
        inheritedFiles: takeOverFiles())

    /// Opens the standard streams that are closed. A file of the server would get such a number, and with it the log
    /// and the output of programs.
    /// - Returns: The other descriptors that this process was started with.
    private static func takeOverFiles() -> Set<Int32> {
        for stream in 0...2 where fcntl(Int32(stream), F_GETFD) < 0 { _ = open("/dev/null", O_RDWR) }
        // `waitpid` fails where the parent has left the signal ignored.
        signal(SIGCHLD, SIG_DFL)
        return Set((OperatingSystem.openFiles ?? []).filter { $0 > 2 && fcntl($0, F_GETFD) == 0 })
    }

    /// The set variables. An empty one is unset: Compose writes it for `${NAME:-}`.
    var environment: [String: String] { inheritedEnvironment.filter { !$0.value.isEmpty } }

    /// Runs the command to its end.
    /// - Returns: The exit code. The reason of a failure is on standard error.
    func run() async -> ExitCode {
        await Self.$current.withValue(self) {
            let line = ServeLine(arguments)
            if line == nil, let problem = UnknownCommand(in: arguments, of: Main.self) {
                StandardError.write("Error: \(problem.error.message)")
                return .usage
            }
            if let option = optionOfServe {
                StandardError.write("Error: '\(option)' is an option of serve: scribe-emulator serve \(option) …")
                return .usage
            }
            do {
                try await runCommand(line)
                return .success
            } catch let code as ExitCode {
                return code
            } catch {
                let (code, text) = (Main.exitCode(for: error), Main.fullMessage(for: error))
                // Help and the version are errors of the parser too.
                if code == .success { print(text) } else if !text.isEmpty { StandardError.write(text) }
                return code == .validationFailure ? .usage : code
            }
        }
    }

    private func runCommand(_ line: ServeLine?) async throws {
        var command = line == nil ? try await Main.asyncParseAsRoot(arguments) : nil
        do {
            if let line {
                let settings = try Settings(flags: line.given, configFile: line.config, environment: environment)
                return try await Serve.run(settings, exitWithParent: line.exitWithParent)
            }
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command?.run()
            }
        } catch let error as ValidationError {
            // The parser itself would name the help of the root command.
            let command = UnknownCommand.command(in: arguments, of: Main.self)
            StandardError.write("Error: \(error.message)\n  See '\(command) --help' for more information.")
            throw ExitCode.usage
        }
    }

    /// An option of `serve` that stands before the command, without its value. Nil if there is none.
    private var optionOfServe: String? {
        guard let word = arguments.first, word.hasPrefix("--") else { return nil }
        let name = String(word.dropFirst(2).prefix { $0 != "=" })
        return Setting.all.map(\.name).contains(name) ? "--\(name)" : nil
    }
}

/// Writes a text to the standard output of the invocation.
func print(_ text: String, terminator: String = "\n") { Invocation.current.writeOutput(text + terminator) }
