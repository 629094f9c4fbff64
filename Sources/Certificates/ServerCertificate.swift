package import Foundation
import NIOCore
package import NIOSSL
import SwiftASN1
import X509

/// Certificate chain of the server with its private key.
package struct ServerCertificate: Sendable {
    /// Server's certificate, followed by its issuers' certificates.
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey
    /// Chain for clients without SNI, which connect to an IP address; nil for the normal chain.
    var chainForAddresses: [NIOSSLCertificate]?
    package let names: [CertificateName]
    package let notValidBefore: Date
    package let notValidAfter: Date

    /// Loads a certificate and a key from PEM files. Blocks.
    /// - Throws: ``CertificateProblem``, also for a certificate that is not valid at `now`.
    package init(certificate certificatePath: String, key keyPath: String, at now: Date) throws {
        let chainText = try Self.text(at: certificatePath)
        let keyText = try Self.text(at: keyPath)
        guard let documents = try? PEMDocument.parseMultiple(pemString: chainText),
            let first = documents.first(where: { $0.discriminator == Certificate.defaultPEMDiscriminator })
        else { throw CertificateProblem.noCertificate(path: certificatePath) }
        guard let leaf = try? Certificate(pemDocument: first),
            let chain = try? NIOSSLCertificate.fromPEMBytes(Array(chainText.utf8)), !chain.isEmpty
        else { throw CertificateProblem.unsupported(path: certificatePath) }
        guard let key = try? NIOSSLPrivateKey(bytes: Array(keyText.utf8), format: .pem) else {
            throw CertificateProblem.noKey(path: keyPath)
        }
        self.chain = chain
        self.key = key
        names = ((try? leaf.extensions.subjectAlternativeNames) ?? nil)?.compactMap(CertificateName.init) ?? []
        notValidBefore = leaf.notValidBefore
        notValidAfter = leaf.notValidAfter
        guard now < leaf.notValidAfter else {
            throw CertificateProblem.expired(certificate: certificatePath, day: Self.day(leaf.notValidAfter))
        }
        guard now >= leaf.notValidBefore else {
            throw CertificateProblem.notYetValid(certificate: certificatePath, day: Self.day(leaf.notValidBefore))
        }
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw CertificateProblem.mismatch(certificate: certificatePath, key: keyPath)
        }
    }

    private var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        // All data has been sent when shutdown begins.
        configuration.shutdownTimeout = .seconds(1)
        configuration.applicationProtocols = ["h2", "http/1.1"]
        return configuration
    }

    /// TLS context of the server.
    /// - Parameter onUnknownName: receives a requested host that the certificate does not cover. The certificate is
    ///   sent all the same: a client that checks names reports the error itself, and others may continue.
    package func context(onUnknownName: @escaping @Sendable (String) -> Void) throws -> NIOSSLContext {
        var configuration = configuration
        configuration.sslContextCallback = { [names, chainForAddresses] values, promise in
            var change = NIOSSLContextConfigurationOverride.noChanges
            if let host = values.serverHostname {
                if !names.contains(where: { $0.matches(host) }) { onUnknownName(host) }
            } else {
                change.certificateChain = chainForAddresses?.map { .certificate($0) }
            }
            promise.succeed(change)
        }
        return try NIOSSLContext(configuration: configuration)
    }

    private static func text(at path: String) throws -> String {
        do {
            return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        } catch {
            throw CertificateProblem.unreadable(
                path: path,
                reason: (error as? CocoaError)?.code == .fileReadNoSuchFile ? "there is no such file" : "cannot be read"
            )
        }
    }

    private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }
}
