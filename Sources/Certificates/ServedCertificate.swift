import Foundation
package import Logging
package import NIOPosix
package import NIOSSL
package import ScribeDomain
import ServiceLifecycle

/// The certificate that new connections are shown, which follows its files while the server runs: what cannot be used is
/// told of, and the one before it is kept.
package final class ServedCertificate: Service, CustomStringConvertible {
    /// Where certificates come from.
    package enum Source: Sendable {
        case development(DevelopmentCertificates)
        /// PEM files, of others' making.
        case files(certificate: String, key: String)
    }

    private struct State {
        var context: NIOSSLContext
        var certificate: ServerCertificate
        /// What the files were like when they were read.
        var marks: [FileMark?]
        var isExpiryTold = false
        /// What was told last, so that it is told once.
        var problem: String?
        /// What clients are to trust, as PEM.
        var authority: String?
    }

    private struct Found {
        let certificate: ServerCertificate
        let marks: [FileMark?]
        var authority: String?
        var news: String?
    }

    private let source: Source
    private let state: LockedValue<State>
    private let unknownHosts: UnknownHosts
    private let clock: WallClock
    private let threads: NIOThreadPool
    private let logger: Logger

    /// Reads or makes it.
    /// - Throws: ``CertificateProblem``.
    package init(_ source: Source, clock: WallClock, threads: NIOThreadPool, logger: Logger) async throws {
        self.source = source
        self.clock = clock
        self.threads = threads
        self.logger = logger
        let now = clock.now
        let found = try await threads.runIfActive { try Self.read(source, at: now) }
        if let news = found.news { logger.notice("\(news)") }
        let unknownHosts = UnknownHosts(advice: source.advice, logger: logger)
        self.unknownHosts = unknownHosts
        let context = try found.certificate.context { unknownHosts.heard($0) }
        state = LockedValue(
            State(
                context: context, certificate: found.certificate, marks: found.marks, authority: found.authority))
    }

    package var description: String { "ServedCertificate" }

    /// What clients are to trust, as PEM; nil where the certificate is somebody else's.
    package var authority: String? { state.withLock { $0.authority } }

    /// What new connections are encrypted with.
    package var context: NIOSSLContext { state.withLock { $0.context } }

    /// How often the files are looked at.
    package static let interval = Duration.seconds(2)

    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while (try? await clock.sleep(for: Self.interval, as: .certificate)) != nil { await look() }
        }
    }

    private func look() async {
        let now = clock.now
        let (marks, certificate) = state.withLock { ($0.marks, $0.certificate) }
        // Taken before anything is read: what changes meanwhile is read again.
        let present = await (try? threads.runIfActive { [source] in Self.marks(of: source) }) ?? marks
        switch source {
        case .development: if now < certificate.renewal { return }
        case .files: if present == marks { return tellOfExpiry(now) }
        }
        state.withLock { $0.marks = present }
        do {
            let found = try await threads.runIfActive { [source] in try Self.read(source, at: now) }
            if let news = found.news { logger.notice("\(news)") }
            let context = try found.certificate.context { [unknownHosts] in unknownHosts.heard($0) }
            state.withLock {
                $0 = State(
                    context: context, certificate: found.certificate, marks: present, authority: found.authority)
            }
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

    private static func read(_ source: Source, at now: Date) throws -> Found {
        // Before it is read: what changes meanwhile is read again.
        let marks = marks(of: source)
        switch source {
        case .development(let folder):
            let result = try folder.certificate(at: now)
            return Found(
                certificate: result.certificate, marks: marks, authority: result.authority, news: result.news)
        case .files(let certificate, let key):
            return Found(
                certificate: try ServerCertificate(certificate: certificate, key: key, at: now), marks: marks)
        }
    }

    /// Others as soon as one of the files is another.
    private static func marks(of source: Source) -> [FileMark?] {
        guard case .files(let certificate, let key) = source else { return [] }
        return [certificate, key].map(FileMark.init(path:))
    }
}

extension ServedCertificate.Source {
    /// What to do about a host that the certificate is not for.
    fileprivate var advice: @Sendable (String) -> String {
        switch self {
        case .development: { "start with --tls-name \($0)" }
        case .files: { "put one in the place of --tls-certificate that is for \($0)" }
        }
    }
}

extension ServerCertificate {
    /// When another is to be issued, in good time before anybody else would do it.
    fileprivate var renewal: Date { notValidAfter.addingTimeInterval(-29 * 86_400) }
}
