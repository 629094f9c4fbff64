import Foundation
import TestSupport
import Testing

@testable import Certificates

struct DevelopmentCertificatesTests {
    private let folder: TemporaryFolder
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws { folder = try TemporaryFolder() }

    private var path: String { "\(folder.path)/tls" }

    private func certificates(_ names: String...) -> DevelopmentCertificates {
        let always = ["localhost", "127.0.0.1", "::1", "api.eka.care", "*.s3.amazonaws.com"]
        return DevelopmentCertificates(
            folder: path, names: (always + names).compactMap(CertificateName.init), identifiers: .counting())
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    private func mode(_ name: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return try #require((attributes[.posixPermissions] as? NSNumber)?.intValue)
    }

    @Test("the development certificates' keys are readable by their owner only, and are kept at the next start")
    func keeping() throws {
        let made = try certificates().certificate(at: now)
        #expect(made.newAuthorityReason != nil)
        #expect(try mode() == 0o700)
        #expect(try mode("ca-key.pem") == 0o600)
        #expect(try mode("key.pem") == 0o600)
        let files = try ["ca.pem", "ca-key.pem", "certificate.pem", "key.pem"].map(text)

        let kept = try certificates().certificate(at: now.addingTimeInterval(86_400))
        #expect(kept.newAuthorityReason == nil)
        #expect(try ["ca.pem", "ca-key.pem", "certificate.pem", "key.pem"].map(text) == files)
        #expect(kept.authority == files[0])
        #expect(try certificates().authorityPEM(at: now) == files[0])
    }

    @Test("the development certificate names hosts and addresses")
    func hostsAndAddresses() throws {
        let made = try certificates().certificate(at: now).certificate
        #expect(made.names.map(\.description) == ["localhost", "api.eka.care", "*.s3.amazonaws.com"])
        let other = try ServerCertificate(
            certificate: "\(path)/certificate-for-addresses.pem", key: "\(path)/key.pem", at: now)
        #expect(other.names.map(\.description) == ["127.0.0.1", "::1"])
    }

    @Test("the authority reissues a certificate before its end, for less than the 825 days that phones accept")
    func renewal() throws {
        let first = try certificates().certificate(at: now)
        #expect(first.certificate.notValidAfter.timeIntervalSince(first.certificate.notValidBefore) < 825 * 86_400)
        let later = first.certificate.notValidAfter.addingTimeInterval(-86_400)
        let second = try certificates().certificate(at: later)
        #expect(second.certificate.notValidAfter > first.certificate.notValidAfter)
        #expect(second.newAuthorityReason == nil)
        #expect(second.authority == first.authority)
    }

    @Test("the authority is kept for a host below its names, and made anew for any other host or address")
    func otherNames() throws {
        let first = try certificates().certificate(at: now)
        let below = try certificates("eu.api.eka.care", "127.0.0.9").certificate(at: now)
        #expect(below.authority == first.authority)
        #expect(below.certificate.names.contains(.host("eu.api.eka.care")))
        let other = try certificates("scribe.test").certificate(at: now)
        #expect(other.authority != first.authority)
        #expect(try #require(other.newAuthorityReason).contains("trust it again"))
        let address = try certificates("scribe.test", "192.168.1.20").certificate(at: now)
        #expect(address.authority != other.authority)
    }

    @Test("a development authority that is about to expire is replaced")
    func oldAuthority() throws {
        let first = try certificates().certificate(at: now)
        let later = now.addingTimeInterval(10 * 365 * 86_400 - 86_400)
        let second = try certificates().certificate(at: later)
        #expect(second.authority != first.authority)
        #expect(try #require(second.newAuthorityReason).contains("time is over"))
    }

    @Test(
        "a certificate folder or authority key that others can read is refused",
        arguments: [("", 0o755), ("", 0o710), ("ca-key.pem", 0o640)])
    func openFiles(name: String, mode: Int) throws {
        _ = try certificates().certificate(at: now)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
        let problem = #expect(throws: CertificateProblem.self) { try certificates().certificate(at: now) }
        #expect(try #require(problem).description.contains("chmod"))
        #expect(throws: CertificateProblem.self) { try certificates().authorityPEM(at: now) }
    }

    @Test("a damaged development authority is reported and not replaced", arguments: ["ca.pem", "ca-key.pem"])
    func damaged(name: String) throws {
        _ = try certificates().certificate(at: now)
        try Data("-----BEGIN".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(path)/\(name)")
        #expect(throws: CertificateProblem.damaged(path: "\(path)/ca.pem")) { try certificates().certificate(at: now) }
    }

    @Test("a damaged development certificate is issued again")
    func damagedCertificate() throws {
        let first = try certificates().certificate(at: now)
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(path)/certificate.pem"))
        let second = try certificates().certificate(at: now)
        #expect(second.authority == first.authority)
        #expect(second.certificate.names == first.certificate.names)
    }

    @Test(
        "somebody else's keys and certificates in the folder are not replaced",
        arguments: ["ca.pem", "certificate.pem", "certificate-for-addresses.pem", "key.pem"])
    func others(name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try Data("mine".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        #expect(throws: CertificateProblem.notOurs(path: "\(path)/\(name)")) { try certificates().certificate(at: now) }
        #expect(throws: CertificateProblem.notOurs(path: "\(path)/\(name)")) {
            try certificates().authorityPEM(at: now)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == [name, "lock"].sorted())
        #expect(try text(name) == "mine")
    }

    /// Certificate of another authority.
    private static let otherCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBfTCCASOgAwIBAgIUF/hiZwI8U3LUDuILJ7tdgcx11UcwCgYIKoZIzj0EAwIw
        EzERMA8GA1UEAwwIc29tZWJvZHkwIBcNMjYxMTI4MTAxMTMyWhgPMjEyNjExMDQx
        MDExMzJaMBMxETAPBgNVBAMMCHNvbWVib2R5MFkwEwYHKoZIzj0CAQYIKoZIzj0D
        AQcDQgAEZOa4mtZVPtWlTwcGmby1sFizT5yr4oBumffI6xxt+Rio/Rfl5sab77ee
        s1NaGbsii3XXpGeEFMjtmUR/+QVlpqNTMFEwHQYDVR0OBBYEFH3Erp4zT++mmle9
        dR2CzQO5YuzYMB8GA1UdIwQYMBaAFH3Erp4zT++mmle9dR2CzQO5YuzYMA8GA1Ud
        EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAM/bkNsfIxvvhrs7wf7DtxF3
        5Vbep2DMScHx3uF0FQdBAiBmS4SrQouEn9adYsR3tWxt4iYxt2/RmKfLGp4dD2fw
        Cg==
        -----END CERTIFICATE-----
        """

    private static let otherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJRWU39nKS4aBNksa
        QUtVjNMnidUvtbFnDgtN2wJeAR2hRANCAARk5ria1lU+1aVPBwaZvLWwWLNPnKvi
        gG6Z98jrHG35GKj9F+Xmxpvvt56zU1oZuyKLddekZ4QUyO2ZRH/5BWWm
        -----END PRIVATE KEY-----
        """

    private func write(_ text: String, as name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(path)/\(name)")
    }

    @Test("a certificate of another authority stays, beside an authority of ours and in its place")
    func otherAuthority() throws {
        let made = try certificates().certificate(at: now)
        try write(Self.otherCertificate, as: "certificate.pem")
        #expect(throws: CertificateProblem.notOurs(path: "\(path)/certificate.pem")) {
            try certificates().certificate(at: now)
        }
        #expect(try text("certificate.pem") == Self.otherCertificate && text("ca.pem") == made.authority)
        try write(Self.otherCertificate, as: "ca.pem")
        try write(Self.otherKey, as: "ca-key.pem")
        #expect(throws: CertificateProblem.notOurs(path: "\(path)/ca.pem")) { try certificates().certificate(at: now) }
        #expect(try text("ca.pem") == Self.otherCertificate && text("ca-key.pem") == Self.otherKey)
    }

    @Test("servers that start at the same time create one development authority")
    func together() async throws {
        let authorities = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try certificates().certificate(at: now).authority } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(authorities.count == 1)
    }

    @Test("a certificate folder that cannot be created ends the start with a clear error")
    func noFolder() throws {
        try Data().write(to: URL(fileURLWithPath: "\(folder.path)/file"))
        let certificates = DevelopmentCertificates(
            folder: "\(folder.path)/file/tls", names: [.host("localhost")], identifiers: .counting())
        let problem = #expect(throws: CertificateProblem.self) { try certificates.certificate(at: now) }
        #expect(try #require(problem).description.contains("--tls-dir"))
    }
}
