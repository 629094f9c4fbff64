import Foundation
import NIOPosix
import UnixSignals

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A command that runs as a child of this process, with its terminal, its input and its output.
struct ChildCommand: Sendable {
    /// The command cannot be started.
    struct Unusable: Error, CustomStringConvertible {
        let command: String
        let code: Int32

        var description: String { "\(command) cannot be run: \(String(cString: strerror(code)))" }
    }

    let arguments: [String]
    /// Variables beside those of this process.
    let environment: [String: String]

    /// Runs the command to its end. SIGINT, SIGTERM and SIGHUP of this process go to it.
    /// - Returns: The exit code; 128 and the number of the signal for a command that a signal ended.
    /// - Throws: ``Unusable``.
    func run() async throws -> Int32 {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let child = try start()
        let forwarding = Task {
            for await signal in signals where !Self.isOfTerminal(signal) { kill(child, signal.rawNumber) }
        }
        defer { forwarding.cancel() }
        return try await NIOThreadPool.singleton.runIfActive {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0 {
                guard errno == EINTR else { return 1 }
            }
            // WIFEXITED, WEXITSTATUS and WTERMSIG are macros, which Swift does not import.
            return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + (status & 0x7f)
        }
    }

    /// Whether the terminal has sent a signal to the whole group of processes, the command included.
    private static func isOfTerminal(_ signal: UnixSignal) -> Bool {
        signal == .sigint && isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }

    /// Starts the command with the default action for each signal: this process ignores some.
    private func start() throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (all, none) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = Invocation.current.environment.merging(environment) { _, own in own }
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var values: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + values { free(text) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, arguments[0], nil, &attributes, &words, &values)
        guard code == 0 else { throw Unusable(command: arguments[0], code: code) }
        return child
    }
}

extension UnixSignal {
    fileprivate var rawNumber: Int32 {
        switch self {
        case .sigterm: SIGTERM
        case .sighup: SIGHUP
        default: SIGINT
        }
    }
}
