import Basics
import ScribeServer
import ServiceLifecycle
import UnixSignals

/// Effect of SIGHUP on this process.
enum HangUp {
    /// The server stops: it has a terminal, and SIGHUP means that the terminal is gone.
    case stops
    /// The server reads the clients file again: it has no terminal, so an operator sent the signal.
    case rereadsClients
    /// The server goes on: it was started with SIGHUP ignored, as by `nohup`.
    case isIgnored

    /// The effect that fits how the process was started.
    static var inherited: HangUp {
        if OperatingSystem.ignores(SIGHUP) { return .isIgnored }
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return .rereadsClients }
        close(terminal)
        return .stops
    }
}

/// Requests that the clients file is read again, at every SIGHUP.
struct HangUpSignals: Service {
    let request: ClientsFileRequest

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown { for await _ in signals { request.make() } }
    }
}
