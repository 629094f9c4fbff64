import CryptoExtras
package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime

/// Registers Suki's ambient API with a server: host names, recording policy, webhook format and routes.
package struct SukiContribution: FamilyContribution {
    package let name = "Suki"
    /// File name of the key that signs clinicians' tokens.
    static let keyFile = "suki-signing-key.pem"

    package let hosts = [HostGroup(title: "Suki", names: SukiFamily.hostNames)]
    package let policies: [any RecordingPolicy]
    package let webhookFormats: [any WebhookFormat] = [SukiFormat()]
    package let secrets = [keyFile]
    private let settings: SukiFamily.Settings

    package init(_ settings: SukiFamily.Settings) {
        self.settings = settings
        policies = [
            AmbientPolicy(
                lifetime: settings.lifetime / .seconds(1), leastAudio: settings.minimumDuration / .seconds(1))
        ]
    }

    /// Makes the key that signs clinicians' tokens: RSA of 2,048 bits, as PEM. Blocking: takes a tenth of a second.
    @Sendable package static func makeKey() throws -> [UInt8] {
        Array(try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation.utf8)
    }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily(SukiFamily(environment: environment, settings: settings))
    }
}
