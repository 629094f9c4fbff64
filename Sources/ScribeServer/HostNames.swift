package import Certificates
import Eka
import Listen
import Omi
import S3
import Suki

/// The names under which clients look for the clouds that are emulated: what certificates are for, and what a hosts file
/// has to lead here.
package enum HostNames {
    /// Which clients look for a host.
    package struct Group: Sendable {
        package let title: String
        package let hosts: [String]
    }

    /// In the order of their importance.
    package static let groups = [
        Group(title: "EkaScribe", hosts: EkaFamily.hostNames),
        Group(
            title: "its buckets at S3",
            hosts: S3Family.buckets.flatMap { bucket in S3Family.hostNames.map { "\(bucket).\($0)" } }),
        Group(title: "live speech (Deepgram, SubQ, Aldea)", hosts: ListenFamily.hostNames),
        Group(title: "Suki", hosts: SukiFamily.hostNames),
        Group(title: "Omi", hosts: OmiFamily.hostNames),
    ]

    /// Hosts of all of S3. Nothing of ours asks for them, and whoever leads them here reaches no bucket of his own there.
    package static let storage = S3Family.hostNames

    /// This machine as itself, containers and the Android emulator know it.
    private static let local = [
        "localhost", "s3.localhost", "*.s3.localhost", "127.0.0.1", "::1", "10.0.2.2", "host.docker.internal",
    ]

    /// What a development certificate is for.
    /// - Parameter own: names beside those that are always in it.
    package static func certificateNames(and own: [CertificateName]) -> [CertificateName] {
        let vendors = [EkaFamily.hostNames, ListenFamily.hostNames, SukiFamily.hostNames, OmiFamily.hostNames]
            .flatMap(\.self)
        let texts = local + vendors + S3Family.hostNames.flatMap { [$0, "*.\($0)"] }
        let names = texts.compactMap(CertificateName.init)
        return names + own.filter { !names.contains($0) }
    }
}
