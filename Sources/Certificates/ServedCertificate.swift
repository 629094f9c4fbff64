package import Basics
import Foundation
package import Logging
package import NIOPosix
package import NIOSSL
import ServiceLifecycle

/// Certificate for new TLS connections, reloaded while the server runs. If a changed certificate is unusable, the
/// service logs the reason and keeps the current one.
package final class ServedCertificate: Service {
    /// Origin of the certificate.
    package enum Source: Sendable {
        case development(DevelopmentCertificates)
        /// PEM files that the operator provides.
        case files(certificate: String, key: String)
    }

    private struct State {
        var context: NIOSSLContext
        var certificate: ServerCertificate
        /// Marks of the files when they were read.
        var marks: [FileFingerprint?]
        var isExpiryTold = false
        /// Last logged problem, so that each problem is logged once.
        var problem: String?
        /// Authority that clients must trust, as PEM; nil for the operator's own files.
        var authority: String?
    }

    private let source: Source
    private let state: LockedValue<State>
    private let unknownHosts: UnknownHosts
    private let clock: WallClock
    private let threads: NIOThreadPool
    private let logger: Logger

    /// Loads or issues the certificate.
    /// - Throws: ``CertificateProblem``.
    package init(_ source: Source, clock: WallClock, threads: NIOThreadPool, logger: Logger) async throws {
        self.source = source
        self.clock = clock
        self.threads = threads
        self.logger = logger
        let unknownHosts = UnknownHosts(advice: source.advice, logger: logger)
        self.unknownHosts = unknownHosts
        let now = clock.now
        state = LockedValue(
            try await threads.runIfActive { try Self.read(source, at: now, unknownHosts, logger) })
    }

    /// Authority that clients must trust, as PEM; nil for the operator's own files.
    package var authority: String? { state.withLock { $0.authority } }

    /// TLS context for new connections.
    package var context: NIOSSLContext { state.withLock { $0.context } }

    /// Interval between checks of the files.
    package static let interval = Duration.seconds(2)

    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while (try? await clock.sleep(for: Self.interval, as: .certificate)) != nil { await look() }
        }
    }

    private func look() async {
        let now = clock.now
        let (marks, certificate) = state.withLock { ($0.marks, $0.certificate) }
        // Marks are taken before the files are read, so that a change during the read causes another read.
        let present = await (try? threads.runIfActive { [source] in Self.marks(of: source) }) ?? marks
        switch source {
        case .development: if now < certificate.renewal { return }
        case .files: if present == marks { return tellOfExpiry(now) }
        }
        state.withLock { $0.marks = present }
        do {
            let found = try await threads.runIfActive { [source, unknownHosts, logger] in
                try Self.read(source, at: now, unknownHosts, logger)
            }
            state.withLock { $0 = found }
            logger.notice("another certificate is served from now on")
        } catch {
            let problem = "\(error)"
            let isNews = state.withLock { state in
                defer { state.problem = problem }
                return state.problem != problem
            }
            if isNews { logger.error("the certificate that is served stays as it is: \(problem)") }
        }
    }

    private func tellOfExpiry(_ now: Date) {
        let isNews = state.withLock { state in
            guard now >= state.certificate.notValidAfter, !state.isExpiryTold else { return false }
            state.isExpiryTold = true
            return true
        }
        if isNews { logger.error("the certificate that is served has expired; put a new one in its place") }
    }

    /// Reads or issues the certificate. Logs why clients must trust another authority. Blocks.
    private static func read(
        _ source: Source, at now: Date, _ unknownHosts: UnknownHosts, _ logger: Logger
    ) throws -> State {
        // Marks are taken before the files are read, so that a change during the read causes another read.
        let marks = marks(of: source)
        let certificate: ServerCertificate
        var authority: String?
        switch source {
        case .development(let folder):
            let result = try folder.certificate(at: now)
            if let newAuthorityReason = result.newAuthorityReason { logger.notice("\(newAuthorityReason)") }
            certificate = result.certificate
            authority = result.authority
        case .files(let path, let key):
            certificate = try ServerCertificate(certificate: path, key: key, at: now)
        }
        let context = try certificate.context { unknownHosts.logOnce($0) }
        return State(context: context, certificate: certificate, marks: marks, authority: authority)
    }

    /// Marks of the certificate's files, to detect a change; empty for development certificates.
    private static func marks(of source: Source) -> [FileFingerprint?] {
        guard case .files(let certificate, let key) = source else { return [] }
        return [certificate, key].map(FileFingerprint.init(path:))
    }
}

extension ServedCertificate.Source {
    /// Advice for the log when a client asks for a host that the certificate does not cover.
    fileprivate var advice: @Sendable (String) -> String {
        switch self {
        case .development: { "start with --tls-name \($0)" }
        case .files: { "put one in the place of --tls-certificate that is for \($0)" }
        }
    }
}

extension ServerCertificate {
    /// Time of renewal, 29 days before expiry. ``DevelopmentCertificates`` issues anew in the last 30 days.
    fileprivate var renewal: Date { notValidAfter.addingTimeInterval(-29 * 86_400) }
}
