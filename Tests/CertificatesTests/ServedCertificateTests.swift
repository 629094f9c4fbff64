import Basics
import Foundation
import Logging
import NIOPosix
import TestSupport
import Testing

@testable import Certificates

struct ServedCertificateTests {
    private let folder: TemporaryFolder
    private let manual = ManualClock()
    private let log = LockedValue<[String]>([])

    init() throws { folder = try TemporaryFolder() }

    private var logger: Logger {
        Logger(label: "test") { [log] _ in Remembering(log: log) }
    }

    private struct Remembering: LogHandler {
        let log: LockedValue<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.withLock { $0.append("\(event.level): \(event.message)") } }
    }

    private var certificate: String { "\(folder.path)/server.pem" }
    private var key: String { "\(folder.path)/server-key.pem" }

    /// Puts a certificate for a host, and its key, where the server looks.
    private func put(_ host: String, key otherKey: String? = nil) throws {
        let made = DevelopmentCertificates(
            folder: "\(folder.path)/\(host)",
            names: [.host(host), .address(bytes: [127, 0, 0, 1], text: "127.0.0.1")],
            identifiers: .counting())
        _ = try made.certificate(at: manual.clock.now)
        try replace(certificate, by: "\(folder.path)/\(host)/certificate.pem")
        try replace(key, by: "\(folder.path)/\(otherKey ?? host)/key.pem")
    }

    private func replace(_ path: String, by other: String) throws {
        try Data(contentsOf: URL(fileURLWithPath: other)).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private func served() async throws -> ServedCertificate {
        try await ServedCertificate(
            .files(certificate: certificate, key: key), clock: manual.clock, threads: .singleton, logger: logger)
    }

    /// Looks at the files as often as it takes until something is logged.
    private func next(_ line: String) async throws {
        while !log.withLock({ $0.contains { $0.contains(line) } }) {
            try await manual.waitFor(.certificate)
            manual.advance(by: ServedCertificate.interval)
        }
        try await manual.waitFor(.certificate)
    }

    private func whileRunning(
        _ served: ServedCertificate, _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withinTheTimeOfATest {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await served.run() }
                group.addTask { try await body() }
                try await group.next()
                group.cancelAll()
            }
        }
    }

    @Test("a replaced certificate file is served without a restart")
    func change() async throws {
        try put("one.test")
        let served = try await served()
        let context = served.context
        try await whileRunning(served) {
            try put("two.test")
            try await next("another certificate is served")
            #expect(served.context !== context)
        }
    }

    @Test("an unusable replacement certificate is logged once, and the current certificate stays in use")
    func unusable() async throws {
        try put("one.test")
        let served = try await served()
        let context = served.context
        try await whileRunning(served) {
            try put("two.test", key: "one.test")
            try await next("stays as it is")
            manual.advance(by: ServedCertificate.interval)
            try await manual.waitFor(.certificate)
            manual.advance(by: ServedCertificate.interval)
            try await manual.waitFor(.certificate)
            #expect(served.context === context)
            #expect(log.withLock { $0.count { $0.contains("stays as it is") } } == 1)
            try put("two.test")
            try await next("another certificate is served")
        }
    }

    @Test("the expiry of an operator's certificate is logged")
    func expiry() async throws {
        try put("one.test")
        let served = try await served()
        try await whileRunning(served) {
            try await manual.waitFor(.certificate)
            manual.advance(by: .seconds(400 * 86_400))
            try await next("has expired")
        }
    }

    @Test("a served development certificate is issued again before it ends")
    func renewal() async throws {
        let made = DevelopmentCertificates(
            folder: "\(folder.path)/tls",
            names: [.host("localhost"), .address(bytes: [127, 0, 0, 1], text: "127.0.0.1")],
            identifiers: .counting())
        let served = try await ServedCertificate(
            .development(made), clock: manual.clock, threads: .singleton, logger: logger)
        #expect(served.authority?.hasPrefix("-----BEGIN CERTIFICATE-----") == true)
        let context = served.context
        try await whileRunning(served) {
            try await manual.waitFor(.certificate)
            manual.advance(by: .seconds(380 * 86_400))
            try await next("another certificate is served")
            #expect(served.context !== context)
        }
    }

    @Test("an unusable certificate or key ends the start with the reason")
    func start() async throws {
        try put("one.test")
        try put("two.test", key: "one.test")
        await #expect(throws: CertificateProblem.mismatch(certificate: certificate, key: key)) { try await served() }
        try put("two.test")
        try Data("no PEM".utf8).write(to: URL(fileURLWithPath: certificate))
        await #expect(throws: CertificateProblem.noCertificate(path: certificate)) { try await served() }
        try put("two.test")
        try Data("no PEM".utf8).write(to: URL(fileURLWithPath: key))
        await #expect(throws: CertificateProblem.noKey(path: key)) { try await served() }
        try FileManager.default.removeItem(atPath: key)
        await #expect(throws: CertificateProblem.unreadable(path: key, reason: "there is no such file")) {
            try await served()
        }
        try put("two.test")
        manual.advance(by: .seconds(400 * 86_400))
        let problem = await #expect(throws: CertificateProblem.self) { try await served() }
        #expect(try #require(problem).description.contains("expired on"))
        manual.setBack(by: .seconds(500 * 86_400))
        let early = await #expect(throws: CertificateProblem.self) { try await served() }
        #expect(try #require(early).description.contains("clock"))
    }

    @Test("each host that the certificate does not cover is logged once, for at most twenty hosts")
    func unknownHosts() {
        let hosts = UnknownHosts(advice: { "do something about \($0)" }, logger: logger)
        for _ in 0..<3 { hosts.logOnce("a.test") }
        hosts.logOnce("a test")
        for number in 0..<100 { hosts.logOnce("host-\(number).test") }
        let lines = log.withLock { $0 }
        #expect(lines.count == 20)
        #expect(lines[0].contains("a.test"))
        #expect(!lines.contains { $0.contains("a test") })
    }
}
