import Logging
import ScribeDomain

/// Says once of each host that a client has asked for and the certificate is not for, and of no more than a few.
final class UnknownHosts: Sendable {
    private static let most = 20

    private let told = LockedValue<Set<String>>([])
    private let advice: @Sendable (String) -> String
    private let logger: Logger

    /// - Parameter advice: what to do about a host.
    init(advice: @escaping @Sendable (String) -> String, logger: Logger) {
        self.advice = advice
        self.logger = logger
    }

    func heard(_ host: String) {
        guard told.withLock({ $0.count < Self.most && $0.insert(host).inserted }) else { return }
        let host = CertificateName.isHost(host) ? host : "…"
        logger.warning(
            "a client asked for a host that the certificate is not for; \(advice(host))", metadata: ["host": "\(host)"])
    }
}
