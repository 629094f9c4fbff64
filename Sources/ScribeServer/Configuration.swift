import Alliance
package import Certificates
package import Eka
package import Engines
package import Foundation
package import Listen
package import Omi
package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime
package import ScribeStore
package import Suki

/// Everything that can be set about one server. The defaults are those of an SDK developer's laptop.
package struct Configuration: Sendable {
    /// Which transcriber is behind the server.
    package enum TranscriberChoice: Hashable, Sendable {
        case fake
        /// A program and its arguments.
        case command(String)
        /// A service that speaks OpenAI's API, by its base URL.
        case openAI(URL)
        /// A service that speaks Deepgram's.
        case deepgram(URL)
    }

    package var host = "127.0.0.1"
    /// 0 picks a free one.
    package var port = 8087
    /// How many clients may be connected; further ones wait to be accepted.
    package var connectionLimit = 2000
    package var connectionLimits = ConnectionLimits()
    package var quotas = Quotas()
    /// The limit of the ``MemoryBudget``, in bytes.
    package var memoryBudget = 256_000_000
    package var dataFolder = ".scribe"
    /// Whether the data folder is removed at the end.
    package var isEphemeral = false
    package var transcriber = TranscriberChoice.fake
    package var authMode = AuthMode.lenient
    package var tls = TLS()
    /// Whether lenient and open authentication may be reached from beyond this machine.
    package var allowsUnverifiedTokensFromNetwork = false
    /// The origins of web pages that may use the server. Nil: all of them, but none under strict authentication.
    package var allowedOrigins: [String]?
    /// The hosts under which requests are served beside the usual ones, `*.scribe.example` for all below a name, `*` for
    /// all there are. Not looked at under strict authentication.
    package var allowedHosts: [String] = []
    /// Where the server may be sent by others beside the public internet, and itself while only this machine reaches it.
    package var outboundAllowed: [OutboundRules.Exception] = []
    /// The authorities that are trusted when the server calls others over TLS.
    package var outboundTrust = OutboundTrust.machine
    /// How clients reach the server, without a slash at its end; nil: as each request did.
    package var publicURL: String?
    /// From where it is believed how clients reach the server.
    package var trustedProxies: [IPRange] = []
    /// Opens `/__admin`. Nil: one that is kept in the data folder, and none while only this machine reaches the server.
    package var adminToken: String?
    /// Between one attempt to tell a webhook and the next (eka-v2.md section 7).
    package var webhookPauses: [Duration] = [.seconds(10), .seconds(60), .seconds(300), .seconds(1800)]
    package var lifetimes = TokenLifetimes()
    /// Whether answers follow the clients or the documentation where those differ.
    package var fidelity = Fidelity.clients
    /// Which client a client id belongs to, where requests do not say so themselves.
    package var clientProfiles: [String: ClientProfile] = [:]
    /// What live recognition is told.
    package var listen = ListenFamily.Settings()
    /// The longest time without audio on a session's stream.
    package var streamIdle: Duration = .seconds(300)
    /// How many encoded live streams ffmpeg decodes at a time.
    package var decoders = 32
    /// What conversations of devices are told.
    package var omi = OmiFamily.Settings()
    /// What ambient sessions are told.
    package var suki = SukiFamily.Settings()
    package var durability = Store.Durability.normal
    /// How long a status poll is held; no client waits longer than 16 s (C-30).
    package var longPoll: Duration = .seconds(14)
    /// How long a session may be open.
    package var sessionLifetime: Duration = .seconds(SessionPolicy.usualLifetime)
    package var jobs = WorkPolicy()
    /// Transcribes what the first one fails at.
    package var fallbackTranscriber: TranscriberChoice?
    package var recognition = EngineGuard.Policy()
    package var speechService = SpeechServiceSettings()
    /// Whether the log explains refused requests; nil: yes. Under strict authentication it never does.
    package var explains: Bool?
    /// Whether the demo clients may log in; nil decides by the authentication: not in strict mode.
    package var hasDemoSeed: Bool?
    /// A YAML file with further clients.
    package var clientsFile: String?
    /// A YAML file with further fixtures.
    package var fixturesFile: String?
    /// 32 bytes or more; nil keeps one in the data folder.
    package var signingKey: [UInt8]?
    /// Whether a new signing key may take the place of a missing one whose tokens are in the database.
    package var allowsNewSigningKey = false

    /// How the server is reached over TLS, beside plain HTTP.
    package struct TLS: Hashable, Sendable {
        package var isOn = false
        /// 0 picks a free one.
        package var port = 8443
        /// The names of the development certificate beside ``HostNames``.
        package var names: [CertificateName] = []
        /// Where the development authority is kept; nil: in the data folder.
        package var folder: String?
        /// PEM files, in place of the development certificate.
        package var certificate: String?
        package var key: String?

        package init() {}
    }

    /// What is told to a speech service, whichever it is.
    package struct SpeechServiceSettings: Hashable, Sendable {
        package var key: String?
        package var model: String?
        package var liteModel: String?
        package var prompt: String?
        /// The longest recording that is sent as it is.
        package var longest: Duration = .seconds(600)

        package init() {}
    }

    package init() {}

    var explainsRefusals: Bool { authMode != .strict && (explains ?? true) }

    var seedsDemo: Bool { hasDemoSeed ?? (authMode != .strict) }

    /// Whether only this machine can reach the server.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
