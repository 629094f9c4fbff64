import Basics
import NIOPosix
import ScribeRuntime
import UnixSignals

/// A command that runs as a child of this process, with its terminal, its input and its output.
struct ChildCommand: Sendable {
    let arguments: [String]
    /// Variables beside those of this process.
    let environment: [String: String]

    /// Runs the command to its end. Signals that would end this process go to the command. The end of this process's
    /// parent ends the command.
    /// - Returns: The exit code; 128 and the number of the signal for a command that a signal ended.
    /// - Throws: `ChildProcess.Unusable`.
    func run() async throws -> Int32 {
        let invocation = Invocation.current
        let signals = await UnixSignalsSequence(
            trapping: .sigint, .sigterm, .sighup, .sigquit, .sigusr1, .sigusr2, .sigalrm)
        var variables = invocation.inheritedEnvironment.merging(environment) { _, own in own }
        // Verbs in the command would ask that file's server.
        variables["SCRIBE_READY_FILE"] = nil
        let child = try ChildProcess(arguments, environment: variables, inherited: invocation.inheritedFiles)
        let forwarding = Task {
            for await signal in signals where !Self.isOfTerminal(signal) { kill(child.id, signal.rawValue) }
        }
        let watch = Task {
            // An orphan gets another parent at once.
            while getppid() == invocation.parent {
                try await WallClock.system.sleep(for: .milliseconds(200), as: .parent)
            }
            kill(child.id, SIGTERM)
            try await WallClock.system.sleep(for: .seconds(5), as: .parent)
            kill(child.id, SIGKILL)
        }
        defer {
            forwarding.cancel()
            watch.cancel()
        }
        return try await NIOThreadPool.singleton.runIfActive { child.wait() }
    }

    /// Whether the terminal has sent a signal to the whole group of processes, the command included.
    private static func isOfTerminal(_ signal: UnixSignal) -> Bool {
        [.sigint, .sigquit].contains(signal) && isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }
}
