package import Alliance
package import Certificates
package import Connections
package import Console
package import Eka
package import Engines
package import Foundation
package import Journal
package import Listen
package import ObjectStorage
package import Omi
package import Outbound
package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime
import ScribeStore
package import Suki

/// Settings of one server. The defaults suit an SDK developer's laptop.
package struct Configuration: Sendable {
    /// Kind of recogniser behind the server.
    package enum TranscriberChoice: Hashable, Sendable {
        case fake
        /// An external program, as a command line.
        case command(String)
        /// A service with OpenAI's API, by its base URL.
        case openAI(URL)
        /// A service with Deepgram's API, by its base URL.
        case deepgram(URL)
    }

    /// Kind of note writer behind the server.
    package enum NoteWriterChoice: Hashable, Sendable {
        case rules
        /// A language model of a service with OpenAI's API, by its base URL.
        case openAI(URL)
    }

    /// The name or the address to listen on. `localhost` is 127.0.0.1 and ::1.
    package var host = "localhost"
    /// The addresses of ``host`` to listen on, once the ports are taken.
    package var addresses: [String]?
    /// The port for plain HTTP; 0 picks a free one.
    package var port = 8087
    /// The maximum number of open connections of each port of an address. Further connections wait to be accepted.
    package var connectionLimit = 2000
    package var connectionLimits = ConnectionLimits()
    package var quotas = Quotas()
    package var namespaces = NamespaceSettings()
    /// The limit of the ``MemoryBudget``, in bytes.
    package var memoryBudget = 256_000_000
    package var dataFolder = ".scribe"
    /// Place of data that several servers share; nil for data in ``dataFolder``. The command line then uses a temporary
    /// data folder, and deletes it at the end.
    package var shared: SharedPlace?
    /// Whether rows are kept in memory. The command line then uses a temporary data folder, and deletes it at the end.
    package var isEphemeral = false
    /// The path of an exported snapshot that the server starts from.
    package var snapshotFile: String?
    /// Seed value of identifiers in the default namespace and in new ones; nil for random ones. Only with
    /// ``isEphemeral``: with a data folder, a restart would make the same identifiers again.
    package var seedValue: SeedValue?
    /// Whether requests may ask for a fault with the header `X-Scribe-Fault`. Nil means only on a loopback address,
    /// and not in strict mode.
    package var readsFaultHeader: Bool?
    /// Parts of exchanges that the journal keeps. Nil means all on a loopback address without strict authentication,
    /// and none anywhere else.
    package var journalMode: JournalMode?
    /// Limits of each journal.
    package var journal = JournalSettings()
    /// Whether the data folder may be reset.
    package var allowsReset = false
    package var transcriber = TranscriberChoice.fake
    package var authMode = AuthMode.lenient
    package var tls = TLS()
    /// Whether lenient and open authentication is allowed on an address that other machines can reach.
    package var allowsUnverifiedTokensFromNetwork = false
    /// The origins of web pages that may call the server. Nil means localhost and the SDKs' own origins, or no
    /// origin in strict mode.
    package var allowedOrigins: [String]?
    /// Further hosts that the server answers for: `*.scribe.example` means all hosts below that name, `*` means
    /// all hosts. Strict mode ignores this list.
    package var allowedHosts: [String] = []
    /// Non-public hosts and ranges that the server may call for a client, such as a webhook's receiver. A server on a
    /// loopback address may always call this machine.
    package var outboundAllowed: [OutboundRules.Exception] = []
    /// The certificate authorities that the server trusts for its outgoing TLS connections.
    package var outboundTrust = OutboundTrust.system
    /// The base URL for links in answers, without a slash at its end; nil takes the base URL of each request.
    package var publicURL: String?
    /// Addresses of proxies whose `X-Forwarded-…` headers the server trusts.
    package var trustedProxies: [IPRange] = []
    /// The token for the operator API. Nil means a token in the data folder, or no token on a loopback address.
    package var adminToken: String?
    /// The settings as the console shows them, without secrets.
    package var shown: [ConsoleFamily.Setting] = []
    /// The pauses between the attempts to send a webhook (eka-v2.md section 7).
    package var webhookPauses: [Duration] = [.seconds(10), .seconds(60), .seconds(300), .seconds(1800)]
    /// Settings of the EkaScribe API.
    package var eka = EkaFamily.Settings()
    /// Settings of protocol sessions.
    package var alliance = AllianceFamily.Settings()
    /// Whether JSON may come compressed.
    package var acceptsGzip = false
    /// Whether S3 refuses signatures for another region.
    package var isS3RegionStrict = false
    /// Limits on open sockets with speech, of each family by itself.
    package var sockets = SocketCounts.Limits()
    /// Settings of Deepgram's API.
    package var listen = ListenFamily.Settings()
    /// The maximum number of encoded live streams that ffmpeg decodes at a time.
    package var decoders = 32
    /// Settings of the API for devices.
    package var omi = OmiFamily.Settings()
    /// Settings of ambient sessions.
    package var suki = SukiFamily.Settings()
    package var durability = Durability.normal
    package var jobs = WorkPolicy()
    /// The second recogniser, for recordings at which the first one fails; nil for none.
    package var fallbackTranscriber: TranscriberChoice?
    package var recognition = EngineGuard.Policy.usual
    package var speechService = SpeechService.Settings()
    package var noteWriter = NoteWriterChoice.rules
    package var noteModel = NoteModelSettings()
    /// The limits of a note writer that takes time.
    package var noteLimits = EngineGuard.Policy.usual
    /// Whether the log explains refused requests; nil means yes. In strict mode it never does.
    package var explains: Bool?
    /// Whether requests are checked against the contract; nil warns on a loopback address, except in strict mode.
    package var contractMode: ContractMode?
    /// Whether the demo clients may log in; nil means in all modes but strict.
    package var hasDemoSeed: Bool?
    /// The path of a YAML file with further clients.
    package var clientsFile: String?
    /// The path of a YAML file with further fixtures.
    package var fixturesFile: String?
    /// The paths of YAML files with seeds, and with fault rules, which are applied before the ports open.
    package var seedFiles: [String] = []
    package var faultFiles: [String] = []
    /// The path of a folder with such files, and with fixtures; nil for none. It need not be there.
    package var startFolder: String?
    /// The signing key, at least 32 bytes; nil means a key that is kept in the data folder.
    package var signingKey: [UInt8]?
    /// Whether to make a new signing key if the key of an existing database is missing.
    package var allowsNewSigningKey = false

    /// Settings of TLS.
    package struct TLS: Hashable, Sendable {
        package var isOn = false
        /// The port for TLS; 0 picks a free one.
        package var port = 8443
        /// Further names in the development certificate, beside those of ``HostNames``.
        package var names: [CertificateName] = []
        /// The folder of the development authority; nil means one in the data folder.
        package var folder: String?
        /// The path of a PEM file with the user's own certificate, in place of the development certificate.
        package var certificate: String?
        /// The path of a PEM file with the key of ``certificate``.
        package var key: String?

        package init() {}
    }

    /// Settings of a language model that writes notes.
    package struct NoteModelSettings: Hashable, Sendable {
        package var key: String?
        /// The name of the model; services with one model take any name.
        package var model = "default"
        package var unsaid = ModelNoteWriter.UnsaidContent.leaveOut
        /// The most characters of a transcript in one request.
        package var longest = 24_000
        /// Templates whose notes the rules write.
        package var byRules: [String] = []

        package init() {}
    }

    package init() {}

    var usedContractMode: ContractMode { contractMode ?? (isLoopback && authMode != .strict ? .warn : .off) }
    var explainsRefusals: Bool { authMode != .strict && (explains ?? true) }

    var seedsDemo: Bool { hasDemoSeed ?? (authMode != .strict) }

    /// Secrets and API keys of the demo, where they would let strangers in: in strict mode, unless `demo-seed` confirms
    /// them.
    var publishedSecrets: Set<String> {
        guard authMode == .strict, hasDemoSeed != true, let demo = try? Seed.demoClients() else { return [] }
        return Set(demo.clients.flatMap { $0.keys + [$0.secret] })
    }

    /// Mode and limits of journals, with the default mode filled in.
    package var usedJournal: JournalSettings {
        var journal = journal
        journal.mode = journalMode ?? (isLoopback && authMode != .strict ? .full : .off)
        return journal
    }

    /// Whether only this machine can reach the server.
    package var isLoopback: Bool { host == "localhost" || IPAddress(host)?.isLoopback ?? false }
}
