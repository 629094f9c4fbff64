import Alliance
import Basics
import Console
import Control
import Eka
import Journal
import Listen
import ObjectStorage
import Omi
import S3
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore
import Status
import Suki

/// Families of a server. To add a family, add a line to `emulated`.
struct Composition: Sendable {
    /// The families. Of equally strong claims on a request, the first family wins. Hosts are listed in this order.
    let families: [any FamilyContribution]
    /// Settings of the operator API.
    let control: ControlFamily.Settings
    /// The port for TLS, once it is open.
    let tlsPort = LockedValue<Int?>(nil)

    init(_ configuration: Configuration) {
        let status = StatusContribution(
            build: .init(version: ScribeVersion.current, commit: ScribeVersion.commit))
        let emulated: [any FamilyContribution] = [
            AllianceContribution(configuration.alliance),
            EkaContribution(configuration.eka),
            FrontPageContribution(
                before: S3Contribution(
                    explainsSignatures: configuration.authMode != .strict,
                    isRegionStrict: configuration.isS3RegionStrict),
                settings: Self.frontPage(configuration, tlsPort)),
            ListenContribution(configuration.listen),
            SukiContribution(configuration.suki),
            OmiContribution(configuration.omi),
        ]
        var controlSettings = ControlFamily.Settings(
            host: configuration.host,
            about: { [tlsPort] in configuration.about(tlsPort: tlsPort.withLock { $0 }) },
            version: ScribeVersion.current, specialty: SukiFamily.specialty,
            otherOperations: S3Family.operationNames, families: ([status] + emulated).map(\.name).sorted())
        controlSettings.refusedSecrets = configuration.isLoopback ? [] : configuration.publishedSecrets
        controlSettings.sharesData = configuration.shared != nil
        self.control = controlSettings
        let titles = RecordingPolicies(emulated.flatMap(\.policies)).titles
        let console = ConsoleContribution(
            over: ControlContribution(controlSettings), Self.console(configuration, titles: titles, tlsPort))
        families = [status, console] + emulated
    }

    var policies: RecordingPolicies { RecordingPolicies(families.flatMap(\.policies)) }
    var webhookFormats: [any WebhookFormat] { families.flatMap(\.webhookFormats) }
    /// Each format is converted by itself: the conversion of an array is a search of all conformances.
    var vocabularies: EventVocabularies { EventVocabularies(webhookFormats.map { $0 }) }

    /// The names of all key files in a data folder.
    var secrets: [String] { families.flatMap(\.secrets) }

    /// Host suffixes of vendors whose hosts belong to one family with all their paths.
    var vendorHosts: [String] {
        EkaFamily.hostSuffixes + families.flatMap(\.hosts).filter(\.servesAllPaths).flatMap(\.names)
    }

    /// The S3 bucket for audio of clients that name no bucket.
    let bucket = EkaFamily.batchBucket

    private static func console(
        _ configuration: Configuration, titles: [RecordingKind: String],
        _ tlsPort: LockedValue<Int?>
    ) -> ConsoleFamily.Settings {
        let demo = DemoCredentials.shown(for: configuration)
        let about = configuration.about(tlsPort: nil)
        return ConsoleFamily.Settings(
            host: configuration.host, version: ScribeVersion.current,
            kinds: titles,
            showsWords: configuration.authMode != .strict || configuration.usedJournal.mode.isFull,
            sharesData: configuration.shared != nil,
            about: [
                "Recogniser: \(about["transcriber"] ?? "")", "Auth: \(configuration.authMode.rawValue)",
                configuration.isEphemeral ? "In memory" : "In a data folder",
            ],
            demo: demo.map { ClientID($0.clientID) }, demoSecret: demo?.clientSecret, demoKey: demo?.apiKey,
            settings: configuration.shown, tlsPort: { tlsPort.withLock { $0 } })
    }

    private static func frontPage(
        _ configuration: Configuration, _ tlsPort: LockedValue<Int?>
    ) -> FrontPage.Settings {
        let demo = DemoCredentials.shown(for: configuration)
            .map { FrontPage.Demo(id: $0.clientID, secret: $0.clientSecret) }
        return FrontPage.Settings(
            version: ScribeVersion.current, isStrict: configuration.authMode == .strict,
            tlsPort: { tlsPort.withLock { $0 } },
            demo: { demo })
    }
}

extension Configuration {
    /// Facts about the server for `GET /__admin/info`.
    func about(tlsPort: Int?) -> [String: String] {
        let transcriber =
            switch transcriber {
            case .fake: "fake"
            case .command: "command"
            case .openAI: "openai"
            case .deepgram: "deepgram"
            }
        var about = [
            "version": ScribeVersion.current, "auth": authMode.rawValue, "durability": durability.rawValue,
            "transcriber": transcriber, "demo_seed": String(seedsDemo),
            "database": shared == nil ? "sqlite" : "postgresql",
        ]
        about["tls_port"] = tlsPort.map { String($0) }
        return about
    }
}
