package import Certificates
import S3
package import ScribeHTTP

/// The names under which clients look for the clouds that are emulated: what certificates are for, and what a hosts file
/// has to lead here.
package enum HostNames {
    /// In the order of their importance.
    package static let groups = Composition(Configuration()).families.flatMap(\.hosts)

    /// Hosts of all of S3. Nothing of ours asks for them, and whoever leads them here reaches no bucket of his own there.
    package static let storage = S3Family.hostNames

    /// This machine as itself, containers and the Android emulator know it.
    private static let local = [
        "localhost", "s3.localhost", "*.s3.localhost", "127.0.0.1", "::1", "10.0.2.2", "host.docker.internal",
    ]

    /// What a development certificate is for.
    /// - Parameter own: names beside those that are always in it.
    package static func certificateNames(and own: [CertificateName]) -> [CertificateName] {
        let vendors = groups.filter(\.servesAllPaths).flatMap(\.names)
        let texts = local + vendors + storage.flatMap { [$0, "*.\($0)"] }
        let names = texts.compactMap(CertificateName.init)
        return names + own.filter { !names.contains($0) }
    }
}
