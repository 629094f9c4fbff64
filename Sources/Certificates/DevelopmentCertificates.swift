package import Basics
package import Foundation
import SwiftASN1
import X509

/// Folder with this machine's development authority and the certificates that it issued.
///
/// The files are `ca.pem`, `ca-key.pem`, `certificate.pem`, `certificate-for-addresses.pem`, and `key.pem` for both
/// certificates. All servers of a user share the folder, because people trust an authority by hand.
///
/// Hosts and addresses have separate certificates. If the authority is limited to some addresses, BoringSSL refuses a
/// certificate with an address, even if the client asks for a host. Dart and Swift on Linux use BoringSSL.
///
/// All functions of this type block their thread.
package struct DevelopmentCertificates: Sendable {
    package let folder: String
    private let names: [CertificateName]
    private let identifiers: IdentifierSource

    /// Server certificate that was issued or loaded, with its authority.
    package struct Result: Sendable {
        package let certificate: ServerCertificate
        /// Authority's certificate as PEM.
        package let authority: String
        /// Reason why there is a new authority, which people must trust again; nil if the last one was kept.
        package let newAuthorityReason: String?
    }

    package init(folder: String, names: [CertificateName], identifiers: IdentifierSource) {
        self.folder = URL(fileURLWithPath: folder).path
        self.names = names
        self.identifiers = identifiers
    }

    /// Path of the authority's certificate, which clients must trust.
    package var authorityPath: String { "\(folder)/ca.pem" }
    private var authorityKeyPath: String { "\(folder)/ca-key.pem" }
    private var certificatePath: String { "\(folder)/certificate.pem" }
    private var addressCertificatePath: String { "\(folder)/certificate-for-addresses.pem" }
    private var keyPath: String { "\(folder)/key.pem" }

    /// Remaining lifetime below which a certificate is replaced, in seconds.
    private static let margin = 30 * 86_400.0

    /// Loads the server's certificate, or issues a new one.
    ///
    /// The last certificate and the last authority are kept if they fit ``names`` and are valid for another 30 days.
    /// - Throws: ``CertificateProblem``.
    package func certificate(at now: Date) throws -> Result {
        try locked {
            let (authority, newAuthorityReason) = try authority(at: now)
            let pem = try authority.certificate.serializeAsPEM().pemString + "\n"
            if let kept = kept(issuedBy: authority, at: now) {
                return Result(certificate: kept, authority: pem, newAuthorityReason: newAuthorityReason)
            }
            try requireOurs([certificatePath, addressCertificatePath])
            let key = DevelopmentAuthority.freshKey()
            try write(try key.serializeAsPEM().pemString + "\n", to: keyPath)
            for (path, names) in [(certificatePath, hosts), (addressCertificatePath, addresses)] {
                let leaf = try authority.issue(for: names, key: key, at: now, identifiers: identifiers)
                let chain = try [leaf, authority.certificate].map { try $0.serializeAsPEM().pemString + "\n" }
                try write(chain.joined(), to: path, mode: 0o644)
            }
            return Result(certificate: try issued(at: now), authority: pem, newAuthorityReason: newAuthorityReason)
        }
    }

    private var hosts: [CertificateName] { names.filter { !$0.isAddress } }
    private var addresses: [CertificateName] { names.filter(\.isAddress) }

    /// Reads the issued certificates from the folder.
    private func issued(at now: Date) throws -> ServerCertificate {
        var certificate = try ServerCertificate(certificate: certificatePath, key: keyPath, at: now)
        certificate.chainForAddresses =
            try ServerCertificate(certificate: addressCertificatePath, key: keyPath, at: now).chain
        return certificate
    }

    /// Loads the last issued certificates if they match these names and are valid for another 30 days.
    private func kept(issuedBy authority: DevelopmentAuthority, at now: Date) -> ServerCertificate? {
        let isFitting = [(certificatePath, hosts), (addressCertificatePath, addresses)].allSatisfy { path, names in
            guard let kept = try? ServerCertificate(certificate: path, key: keyPath, at: now) else { return false }
            return kept.notValidAfter.timeIntervalSince(now) > Self.margin && Set(kept.names) == Set(names)
                && isIssued(path, by: authority)
        }
        return isFitting ? try? issued(at: now) : nil
    }

    /// Loads the authority's certificate as PEM, and creates an authority only if there is none.
    /// - Throws: ``CertificateProblem``.
    package func authorityPEM(at now: Date) throws -> String {
        try locked {
            let isThere = FileManager.default.fileExists(atPath: authorityKeyPath)
            if isThere { try checkMode(of: authorityKeyPath, isFolder: false) }
            let authority = try isThere ? kept() : authority(at: now).authority
            return try authority.certificate.serializeAsPEM().pemString + "\n"
        }
    }

    /// Loads the last authority, or creates one if the last one expires soon or may not issue for all names.
    private func authority(at now: Date) throws -> (authority: DevelopmentAuthority, newAuthorityReason: String?) {
        var limits = names
        var newAuthorityReason = "a development authority was made; clients that are to trust it: scribe-emulator trust"
        if FileManager.default.fileExists(atPath: authorityKeyPath) {
            try checkMode(of: authorityKeyPath, isFolder: false)
            let kept = try kept()
            let isLasting = kept.certificate.notValidAfter.timeIntervalSince(now) > Self.margin
            if isLasting, kept.permits(for: names) { return (kept, nil) }
            // The new authority keeps the names of the old one, so that other servers' certificates stay possible.
            limits += kept.limits.filter { !limits.contains($0) }
            try requireOurs([authorityPath])
            newAuthorityReason =
                isLasting
                ? "the development authority was made anew, for the old one may not vouch for all names; trust it again"
                : "the development authority was made anew, for the old one's time is over; trust it again"
        } else if let other = [authorityPath, certificatePath, addressCertificatePath, keyPath].first(
            where: FileManager.default.fileExists(atPath:))
        {
            // An authority writes its key first, so the other files are not from one.
            throw CertificateProblem.notOurs(path: other)
        }
        let fresh = try DevelopmentAuthority(vouchingFor: limits, at: now, identifiers: identifiers)
        try write(try fresh.key.serializeAsPEM().pemString, to: authorityKeyPath)
        try write(try fresh.certificate.serializeAsPEM().pemString + "\n", to: authorityPath, mode: 0o644)
        return (fresh, newAuthorityReason)
    }

    /// Reads the last authority from the folder.
    private func kept() throws -> DevelopmentAuthority {
        guard let certificateText = try? String(contentsOfFile: authorityPath, encoding: .utf8),
            let keyText = try? String(contentsOfFile: authorityKeyPath, encoding: .utf8),
            let certificate = try? Certificate(pemEncoded: certificateText),
            let key = try? Certificate.PrivateKey(pemEncoded: keyText), key.publicKey == certificate.publicKey
        else { throw CertificateProblem.damaged(path: authorityPath) }
        return DevelopmentAuthority(certificate: certificate, key: key)
    }

    /// Whether the authority signed the first certificate of a file.
    private func isIssued(_ path: String, by authority: DevelopmentAuthority) -> Bool {
        first(of: path).map { authority.certificate.publicKey.isValidSignature($0.signature, for: $0) } ?? false
    }

    /// First certificate of a file; nil for a file without one.
    private func first(of path: String) -> Certificate? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let documents = try? PEMDocument.parseMultiple(pemString: text), let first = documents.first
        else { return nil }
        return try? Certificate(pemDocument: first)
    }

    /// Requires that a development authority issued the certificates that are about to be replaced.
    private func requireOurs(_ paths: [String]) throws {
        for path in paths where first(of: path).map(DevelopmentAuthority.hasIssued) == false {
            throw CertificateProblem.notOurs(path: path)
        }
    }

    // MARK: Files

    /// Runs `body` under a file lock, so that two servers that start together create one authority.
    private func locked<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            try FileManager.default.createDirectory(
                atPath: URL(fileURLWithPath: folder).deletingLastPathComponent().path, withIntermediateDirectories: true
            )
            // The folder is private from its creation on.
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw CertificateProblem.unreadable(
                path: folder, reason: "the folder cannot be made; name another with --tls-dir")
        }
        try checkMode(of: folder, isFolder: true)
        let lock = open("\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw CertificateProblem.unreadable(path: folder, reason: "cannot be written; name another with --tls-dir")
        }
        defer { close(lock) }
        flock(lock, LOCK_EX)
        return try body()
    }

    /// Checks that only the owner can access a file or folder.
    private func checkMode(of path: String, isFolder: Bool) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CertificateProblem.unreadable(path: path, reason: "cannot be read")
        }
        guard !isFolder || status.st_mode & 0o170000 == 0o040000 else {
            throw CertificateProblem.notAFolder(path: path)
        }
        let mode = status.st_mode & 0o777
        guard mode & 0o077 == 0 else {
            // A command would change the mode of a folder with other files, such as a home.
            let names = isFolder ? (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] : []
            guard names.isEmpty || FileManager.default.fileExists(atPath: authorityKeyPath) else {
                throw CertificateProblem.unreadable(
                    path: path,
                    reason: "others can read the folder, and it holds other files; name a new one with --tls-dir")
            }
            throw CertificateProblem.accessibleToOthers(path: path, mode: String(mode, radix: 8), isFolder: isFolder)
        }
    }

    /// Writes a file atomically, with its access mode set from its creation on.
    /// Keys are readable only by their owner; certificates are readable by everyone.
    private func write(_ text: String, to path: String, mode: mode_t = 0o600) throws {
        let temporary = "\(path).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        let handle = descriptor < 0 ? nil : FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            guard let handle else { throw CocoaError(.fileWriteUnknown) }
            try handle.write(contentsOf: Data(text.utf8))
            try handle.synchronize()
        } catch {
            throw CertificateProblem.unreadable(path: path, reason: "cannot be written")
        }
        guard rename(temporary, path) == 0 else {
            throw CertificateProblem.unreadable(path: path, reason: "cannot be written")
        }
    }
}
