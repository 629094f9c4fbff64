import ScribeServer
import ServiceLifecycle
import UnixSignals

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What SIGHUP does to this process.
enum HangUp {
    /// The terminal is gone, so the server stops.
    case stops
    /// There is no terminal to go: it is an operator's request to read the clients file again.
    case rereadsClients
    /// Whoever started the process wants it to outlive the terminal, as `nohup` does.
    case isIgnored

    static var wanted: HangUp {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        if unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { return .isIgnored }
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return .rereadsClients }
        close(terminal)
        return .stops
    }
}

/// Asks for the clients file at every SIGHUP.
struct HangUpSignals: Service {
    let request: ClientsFileRequest

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() { request.make() }
    }
}
