import Basics
package import Certificates
import NIOCore
package import ScribeHTTP

/// Error that prevents a start. Its description says what is wrong, where, and what to do.
package enum StartupProblem: Error, Sendable, CustomStringConvertible {
    case unverifiedTokensFromNetwork(host: String, mode: AuthMode)
    case signingKeyTooShort
    /// A seed value with a data folder: a restart would make the same identifiers again.
    case seedValueOfFolder
    /// A setting that removes data, where other servers share the data.
    case sharedDataIsKept
    case unreadableSeed(path: String, reason: String)
    /// A file of seeds or fault rules.
    case unusableStartFile(path: String, reason: String)
    case unusableSnapshot(path: String, reason: String)
    case unusableTranscriber(setting: String, reason: String)
    case unusableSetting(UnusableSetting)
    case unusableCertificate(CertificateProblem)
    case portInUse(Int, flag: String)
    /// `--port` and `--tls-port` are the same.
    case samePort(Int)
    /// The port is privileged, as ports below 1024 are on Linux.
    case portForbidden(Int, flag: String)
    /// The host name has no IP address.
    case unknownHost(String)
    /// The address does not belong to this machine.
    case foreignAddress(String)
    case unusableAddress(host: String, port: Int, reason: String)

    /// Translates an error of `bind` or of name resolution; nil for any other error.
    init?(_ error: any Error, host: String, port: Int, flag: String) {
        switch error {
        case let error as IOError:
            switch error.errnoCode {
            case EADDRINUSE: self = .portInUse(port, flag: flag)
            case EACCES, EPERM: self = .portForbidden(port, flag: flag)
            case EADDRNOTAVAIL: self = .foreignAddress(host)
            case let code: self = .unusableAddress(host: host, port: port, reason: String(cString: strerror(code)))
            }
        case is SocketAddressError, is SocketAddressError.UnknownHost: self = .unknownHost(host)
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .unverifiedTokensFromNetwork(let host, let mode):
            """
            \(mode.rawValue) authentication gives access to every client that can reach \(host).
            Use --auth strict, listen on 127.0.0.1, or confirm with --allow-unverified-tokens-from-network.
            """
        case .signingKeyTooShort:
            """
            the signing key must be at least 32 bytes; SCRIBE_SIGNING_KEY or --signing-key-file gives a shorter one. \
            openssl rand -hex 32 prints a good one
            """
        case .seedValueOfFolder:
            "--seed-value makes the same identifiers in each run, which a data folder would hold twice; add --ephemeral"
        case .sharedDataIsKept:
            "--database excludes --ephemeral, --snapshot and --allow-reset: other servers share the data"
        case .unreadableSeed(let path, let reason), .unusableStartFile(let path, let reason),
            .unusableSnapshot(let path, let reason):
            "\(path): \(reason)"
        case .unusableTranscriber(let setting, let reason): "\(setting) cannot be used: \(reason)"
        case .unusableCertificate(let problem): "TLS: \(problem)"
        case .portInUse(let port, let flag): "port \(port) is in use; choose another with \(flag), or \(flag) 0"
        case .samePort(let port): "--port and --tls-port are both \(port); choose another for one of them"
        case .portForbidden(let port, let flag):
            """
            this user may not listen on port \(port); choose port 1024 or above with \(flag). \
            On Linux, this command allows the port until the next restart:
              sudo sysctl net.ipv4.ip_unprivileged_port_start=\(port)
            """
        case .unknownHost(let host):
            "the address '\(host)' is not known; choose one of this machine with --host, such as 127.0.0.1 or 0.0.0.0"
        case .foreignAddress(let host):
            "\(host) is not an address of this machine; choose one with --host, such as 127.0.0.1 or 0.0.0.0"
        case .unusableAddress(let host, let port, let reason):
            "port \(port) of \(host) cannot be used: \(reason); choose others with --host and --port"
        case .unusableSetting(let problem): "\(problem)"
        }
    }
}
