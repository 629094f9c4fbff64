import Eka
import Engines
import Foundation
import Listen
import Logging
import Omi
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer

extension Setting {
    /// Who may ask.
    static let access: [Setting] = [
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
            "admin-token",
            "The token that opens /__admin, for operators; by default one in the data folder.",
            .text,
            default: "",
            valueName: "token",
            pageDefault: "made in the data folder",
            page: """
                opens `/__admin`, by `Authorization: Bearer`. Without it one is made in the data folder (`admin-token`, \
                0600), where the command line finds it, and none is asked for while the server listens on loopback
                """
        ) { token, run in run.configuration.adminToken = token.isEmpty ? nil : token }.secret(),
        Setting(
            "access-token-lifetime",
            "How long an access token can be used, for example 24h.",
            .seconds,
            default: "24h",
            valueName: "time",
            page: """
                after that a token is 401, and clients refresh it; the Python SDK for sessions fails where it is less than \
                a day
                """,
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
            pageDefault: "localhost, `*.eka.care`, `app://ekascribe`; strict: none",
            page: """
                origins of web pages that may use the server, with commas between: \
                `https://app.example,https://staging.example`; `*` for all
                """,
            to: \.configuration.allowedOrigins),
        Setting(
            "allowed-hosts",
            "Hosts under which requests are served beside the usual ones, with commas between; *.NAME, or * for all.",
            .hosts,
            default: "",
            valueName: "list",
            pageDefault: "none",
            page: """
                hosts under which requests are served, unless `auth` is `strict`, beside addresses, names without a dot, names \
                that end in `localhost`, `local`, `internal`, `test`, `lan` or `home.arpa`, the SDKs' hosts, `*.eka.care`, `tls-name` and \
                `public-url`: `scribe.example,*.staging.example`, or `*` for all. Any other host is 421
                """,
            to: \.configuration.allowedHosts),
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
        Setting(
            "firebase-jwks-url",
            "The URL of the JWK set of Firebase's keys; with firebase-project, its tokens are verified for /v4/listen.",
            .url,
            default: "",
            valueName: "url",
            pageDefault: "none",
            page: """
                where the JWK set of Firebase's keys is: with `firebase-project` its tokens are verified, in every mode, and \
                their users act for the business of `firebase-client`. Google's is \
                `https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com`. It is kept for \
                10 min, and fetched again for a token that no key fits. `outbound-allow` has to let a private address in
                """
        ) { url, run in run.configuration.omi.jwksURL = url.isEmpty ? nil : url },
        Setting(
            "firebase-jwks-file",
            "A file with the JWK set of Firebase's keys, in place of firebase-jwks-url.",
            .file,
            default: "",
            valueName: "path",
            pageDefault: "none",
            page: """
                a file with that set, in place of `firebase-jwks-url`; it is read at the start only. Was `edge-jwks-file`
                """
        ) { keys, run in run.configuration.omi.jwks = keys }.formerly("edge-jwks-file"),
        Setting(
            "firebase-project",
            "The Firebase project that tokens for /v4/listen are meant for.",
            .text,
            valueName: "name",
            pageDefault: "none",
            page: "the Firebase project that tokens must name as their audience and issuer. Was `edge-project`",
            to: \.configuration.omi.project
        ).formerly("edge-project"),
        Setting(
            "firebase-client",
            "The client for whose business the users of other issuers act.",
            .text,
            default: "",
            valueName: "id",
            pageDefault: "the demo client",
            page: """
                the client for whose business users of other issuers, and of the admin key, act. Was `edge-client`
                """
        ) { client, run in run.configuration.omi.client = client.isEmpty ? nil : ClientID(client) }
        .formerly("edge-client"),
    ]
}
