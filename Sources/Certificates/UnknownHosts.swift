import Basics
import Logging

/// Logs each requested host that the certificate does not cover once, and at most 20 hosts.
final class UnknownHosts: Sendable {
    private static let most = 20

    private let told = LockedValue<Set<String>>([])
    private let advice: @Sendable (String) -> String
    private let logger: Logger

    /// Creates a log of unknown hosts.
    /// - Parameter advice: text for the log, by host.
    init(advice: @escaping @Sendable (String) -> String, logger: Logger) {
        self.advice = advice
        self.logger = logger
    }

    func logOnce(_ host: String) {
        guard told.withLock({ $0.count < Self.most && $0.insert(host).inserted }) else { return }
        let host = CertificateName.isHost(host) ? host : "…"
        logger.warning(
            "a client asked for a host that the certificate is not for; \(advice(host))", metadata: ["host": "\(host)"])
    }
}
