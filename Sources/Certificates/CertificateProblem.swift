/// Reason why the server cannot serve a certificate.
package enum CertificateProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(path: String, reason: String)
    case noCertificate(path: String)
    case unsupported(path: String)
    case noKey(path: String)
    case mismatch(certificate: String, key: String)
    case expired(certificate: String, day: String)
    case notYetValid(certificate: String, day: String)
    /// The key or its folder is accessible to other users, who could take the key or may have taken it.
    case accessibleToOthers(path: String, mode: String, isFolder: Bool)
    /// The development authority's certificate or key is unreadable, or the two do not match.
    case damaged(path: String)
    /// The folder holds files that this program has not written, and would replace.
    case notOurs(path: String)
    /// A file has the path of the development authority's folder.
    case notAFolder(path: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(path): \(reason)"
        case .noCertificate(let path): "\(path) holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)"
        case .unsupported(let path):
            "the certificate in \(path) is of a kind that is not supported; its key must be RSA of 2048 bits or more, or P-256, P-384 or P-521"
        case .noKey(let path):
            "\(path) holds no private key in PEM form without a passphrase (-----BEGIN PRIVATE KEY-----)"
        case .mismatch(let certificate, let key):
            """
            the certificate in \(certificate) does not belong to the key in \(key); the first certificate in the file \
            must be the server's own, those of its issuers come after it
            """
        case .expired(let certificate, let day):
            "the certificate in \(certificate) expired on \(day); put a new one in its place"
        case .notYetValid(let certificate, let day):
            "the certificate in \(certificate) is valid from \(day) only; is this machine's clock right?"
        case .accessibleToOthers(let path, let mode, true):
            "\(path) can be read by others (mode \(mode)), and a key that signs for other hosts is in it; chmod 700 \(path)"
        case .accessibleToOthers(let path, let mode, false):
            """
            \(path) can be read by others (mode \(mode)); run chmod 600 \(path). If another user may have read it, \
            remove its folder: scribe-emulator then makes a new authority, which your clients must trust
            """
        case .notAFolder(let path): "\(path) is a file, and a folder is expected; name another with --tls-dir"
        case .damaged(let path):
            "\(path) is damaged; name a new folder with --tls-dir: clients must then trust the new authority in it"
        case .notOurs(let path):
            """
            \(path) is not from scribe-emulator, which would replace it; name a new folder with --tls-dir, \
            or serve your own certificate with --tls-certificate and --tls-key
            """
        }
    }
}
