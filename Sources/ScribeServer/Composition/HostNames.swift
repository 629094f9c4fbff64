package import Certificates
import S3
package import ScribeHTTP

/// Hosts of the emulated clouds, for certificates and for the hosts file.
package enum HostNames {
    /// The hosts of each family, in the order of the families.
    package static let groups = Composition(Configuration()).families.flatMap(\.hosts)

    /// Hosts of all of S3, for certificates alone. In a hosts file they would cut the user off from real buckets.
    package static let storage = S3Family.hostNames

    /// Names of this machine for itself, for containers and for the Android emulator.
    private static let local = [
        "localhost", "s3.localhost", "*.s3.localhost", "127.0.0.1", "::1", "10.0.2.2", "host.docker.internal",
    ]

    /// The names in a development certificate.
    /// - Parameter own: Names beside those that every certificate has.
    package static func certificateNames(and own: [CertificateName]) -> [CertificateName] {
        let vendors = groups.filter(\.servesAllPaths).flatMap(\.names)
        let texts = local + vendors + storage.flatMap { [$0, "*.\($0)"] }
        let names = texts.compactMap(CertificateName.init)
        return names + own.filter { !names.contains($0) }
    }
}
