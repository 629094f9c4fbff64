import Eka
import Engines
import Foundation
import Listen
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer

extension Setting {
    /// Everything that can be set, in the order of its page. A further one is an entry here and nothing else.
    static let all = place + speech + access + behaviour

    /// What it listens on, and where its data is.
    private static let place: [Setting] = [
        Setting(
            "host",
            "The address to listen on.",
            .text,
            default: "127.0.0.1",
            page: "the address to listen on",
            to: \.configuration.host),
        Setting(
            "port",
            "The port to listen on; 0 picks a free one.",
            .integer(0...65535),
            default: "8087",
            page: "0 picks a free one",
            to: \.configuration.port),
        Setting(
            "ready-file",
            "A JSON file to write once the server is ready.",
            .text,
            valueName: "path",
            page: """
                a JSON file with `base_url` and `pid`, written whole once the server is ready and removed at its \
                end
                """,
            to: \.readyFile),
        Setting(
            "data-dir",
            "The folder that keeps all data.",
            .text,
            default: ".scribe",
            valueName: "path",
            page: "the folder that keeps all data; one server at a time",
            to: \.configuration.dataFolder),
        Setting(
            "ephemeral",
            "Keep the data in a temporary folder that is removed at the end.",
            .boolean,
            default: "false",
            page: "use a temporary folder and remove it at the end",
            to: \.configuration.isEphemeral),
    ]

    /// Who transcribes.
    private static let speech: [Setting] = [
        Setting(
            "transcriber",
            "fake, openai:URL, deepgram:URL, or command:PROGRAM ARGUMENTS with {file}, {wav} and {language}.",
            .transcriber,
            default: "fake",
            page: """
                or `openai:URL`, `deepgram:URL`, `command:PROGRAM ARGUMENTS`: \
                [recipes](recipes.md#put-a-recogniser-behind-it)
                """,
            to: \.configuration.transcriber),
        Setting(
            "transcriber-time-limit",
            "How long one recognition may take beyond the audio's own length, for example 120s.",
            .duration,
            default: "120s",
            valueName: "time",
            page: "for one recognition, beyond the audio's own length",
            to: \.configuration.recognition.timeLimit),
        Setting(
            "transcriber-concurrency",
            "How many recognitions run at the same time.",
            .integer(1...256),
            default: "4",
            page: "recognitions at the same time"
        ) { count, run in
            run.configuration.recognition.concurrency = count
            run.configuration.jobs.transcriptions = count
            run.configuration.jobs.assemblies = count
        },
        Setting(
            "fallback-transcriber",
            "A transcriber for what the first one fails at.",
            .transcriber,
            page: "transcribes a file when the first one has failed for good, or is left alone",
            to: \.configuration.fallbackTranscriber),
        Setting(
            "stt-model",
            "The speech service's model.",
            .text,
            pageDefault: "`whisper-1`; `nova-3-medical`",
            page: "the service's model",
            to: \.configuration.speechService.model),
        Setting(
            "stt-model-lite",
            "The speech service's model for transactions that ask for lite.",
            .text,
            pageDefault: "as `stt-model`",
            page: "the model for transactions with `model_type: lite`",
            to: \.configuration.speechService.liteModel),
        Setting(
            "stt-prompt",
            "Words that the speech service is to expect.",
            .text,
            page: """
                what the service is to expect: words with commas between; for OpenAI a sentence will do. The names \
                of medicines and diseases come by themselves, for templates that have room for them
                """,
            to: \.configuration.speechService.prompt),
        Setting(
            "stt-longest",
            "The longest recording that is sent to a speech service in one piece, for example 10m.",
            .duration(atLeast: .seconds(1)),
            default: "10m",
            valueName: "time",
            page: "longer recordings are cut in their pauses before they are sent, where ffmpeg is installed",
            to: \.configuration.speechService.longest),
        Setting(
            "stt-key-file",
            "A file with the speech service's key.",
            .file,
            default: "",
            valueName: "path",
            page: "a file with the service's key. `SCRIBE_STT_KEY` holds the key itself and wins"
        ) { key, run in run.configuration.speechService.key = String(decoding: key, as: UTF8.self) },
    ]

    /// Who may ask.
    private static let access: [Setting] = [
        Setting(
            "auth",
            "Which tokens are accepted: lenient, open or strict.",
            .choice(),
            default: "lenient",
            page: """
                `lenient`: our tokens mean their tenant, any other JWT the demo tenant. `open`: no token means the \
                demo tenant too. `strict`: only ours
                """,
            to: \.configuration.authMode),
        Setting(
            "allow-unverified-tokens-from-network",
            "Let lenient or open authentication be reached from beyond this machine.",
            .boolean,
            default: "false",
            page: "lenient and open otherwise listen on loopback only",
            to: \.configuration.allowsUnverifiedTokensFromNetwork),
        Setting(
            "demo-seed",
            "Whether the demo clients may log in; by default not in strict mode.",
            .boolean,
            pageDefault: "all but strict",
            page: "whether the demo clients may log in",
            to: \.configuration.hasDemoSeed),
        Setting(
            "clients",
            "A YAML file with clients that may log in.",
            .text,
            valueName: "path",
            page: "a YAML file with clients, as `seed/clients.yaml`",
            to: \.configuration.clientsFile),
        Setting(
            "fixtures",
            "A YAML file with fixtures for the fake transcriber.",
            .text,
            valueName: "path",
            page: "a YAML file with fixtures, as `seed/fixtures.yaml`",
            to: \.configuration.fixturesFile),
        Setting(
            "signing-key-file",
            "A file with the signing key, at least 32 bytes.",
            .file,
            default: "",
            valueName: "path",
            page: """
                a file with 32 bytes or more; otherwise one is made in the data folder. `SCRIBE_SIGNING_KEY` holds \
                the key itself and wins
                """
        ) { key, run in run.configuration.signingKey = Array(key) },
        Setting(
            "access-token-lifetime",
            "How long an access token can be used, for example 30m.",
            .seconds,
            default: "30m",
            valueName: "time",
            page: "after that a token is 401, and clients refresh it",
            to: \.configuration.lifetimes.accessToken),
        Setting(
            "refresh-token-lifetime",
            "How long a refresh token can be used, for example 30d.",
            .seconds,
            default: "30d",
            valueName: "time",
            page: "after that a refresh is 403, and clients sign out",
            to: \.configuration.lifetimes.refreshToken),
        Setting(
            "credentials-lifetime",
            "How long S3 credentials can be used, for example 12h.",
            .seconds,
            default: "12h",
            valueName: "time",
            page: "of S3 credentials; some clients fetch them once per consultation",
            to: \.configuration.lifetimes.uploadCredentials),
        Setting(
            "cors-origins",
            """
            Origins of web pages that may use the server, with commas between, or *; by default this \
            machine's, in strict mode none.
            """,
            .origins,
            pageDefault: "localhost, `*.eka.care`; strict: none",
            page: """
                origins of web pages that may use the server, with commas between: \
                `https://app.example,https://staging.example`; `*` for all
                """,
            to: \.configuration.allowedOrigins),
        Setting(
            "client-profiles",
            "Which SDK a client id belongs to, where its requests do not say so: ID=PROFILE with commas between.",
            .clientProfiles,
            page: """
                which SDK a client id belongs to, where neither `flavour` nor `User-Agent` says so: \
                `my-app=ios,kiosk=web`. Profiles: `generic`, `ios`, `android`, `legacy-ios`, `web`, `dotnet`, \
                `python`
                """,
            to: \.configuration.clientProfiles),
    ]

    /// How it answers.
    private static let behaviour: [Setting] = [
        Setting(
            "strict-docs",
            "Answer as the vendor's documentation says where its clients need something else.",
            .boolean,
            default: "false",
            page: """
                answer as the vendor's documentation says where its clients need something else; [what that \
                changes](recipes.md#answer-as-documented)
                """
        ) { isStrict, run in run.configuration.fidelity = isStrict ? .documentation : .clients },
        Setting(
            "durability",
            "What acknowledged data survives: normal (a killed process) or full (a power cut).",
            .choice(),
            default: "normal",
            page: "`normal` survives a killed process, `full` a power cut as well",
            to: \.configuration.durability),
        Setting(
            "long-poll",
            "How long a status poll is held, for example 14s.",
            .duration,
            default: "14s",
            valueName: "time",
            page: "how long a status poll is held",
            to: \.configuration.longPoll),
        Setting(
            "listen-dialect",
            "Whose live API is spoken where they differ: deepgram or subq.",
            .choice(of: [false, true]) { $0 ? "subq" : "deepgram" },
            default: "deepgram",
            page: """
                whose live API is spoken where they differ: `subq` tells interim results unasked, greets with Metadata and \
                gives channels as `[0]`
                """
        ) { isSubQ, run in run.configuration.listen.speaksSubQ = isSubQ },
        Setting(
            "listen-idle",
            "After how long without audio or a text a live socket is closed, for example 10s.",
            .duration(atLeast: .milliseconds(100)),
            default: "10s",
            valueName: "time",
            page: "after so long without audio or a text a live socket is closed",
            to: \.configuration.listen.idleTime),
        Setting(
            "listen-sockets",
            "How many live sockets may be open at a time.",
            .integer(1...100_000),
            default: "1000",
            page: "live sockets at a time; of one business 200 at most",
            to: \.configuration.listen.sockets),
        Setting(
            "storage-quota",
            "How much a business may store, for example 50GB; by default as much as there is.",
            .bytes,
            valueName: "size",
            pageDefault: "none",
            page: "how much a business may store, such as `50GB`; more is 403 `QuotaExceeded`",
            to: \.configuration.quotas.storedBytes),
        Setting(
            "open-transactions-quota",
            "How many transactions a client may have open at a time; by default any number.",
            .integer(0...1_000_000_000),
            pageDefault: "none",
            page: """
                how many transactions a client may have that are neither committed nor two hours old; more is \
                `txn_limit_exceeded`
                """,
            to: \.configuration.quotas.openTransactions),
        Setting(
            "request-timeout",
            "How long the head of a request may take, and its body without going on, for example 10s.",
            .duration,
            default: "10s",
            valueName: "time",
            page: "how long the head of a request may take, and its body without going on",
            to: \.configuration.connectionLimits.requestTime),
        Setting(
            "object-wait",
            "How long after commit a listed file may still arrive, for example 10s.",
            .duration,
            default: "10s",
            valueName: "time",
            page: "how long after commit a listed file may still arrive",
            to: \.configuration.jobs.objectWait),
        Setting(
            "log-level",
            "trace, debug, info, notice, warning, error or critical.",
            .choice(of: Logger.Level.allCases) { $0.rawValue },
            default: "info",
            page: "`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`",
            to: \.logLevel),
    ]
}
