import Eka
import Engines
import Foundation
import Listen
import Omi
import ScribeDomain
import ScribeHTTP
import ScribeServer

extension Setting {
    /// Settings of authentication, tokens, web origins and hosts.
    static let access: [Setting] = [
        Setting(
            "auth",
            "Authentication: lenient (any token), open (no token needed) or strict (only tokens of this server).",
            .choice(),
            default: "lenient",
            page: """
                `lenient`: a token of this server acts for its business, any other JWT for the demo client's. `open`: \
                a request without a token acts for the demo client's business too. `strict`: only tokens of this server
                """,
            to: \.configuration.authMode),
        Setting(
            "allow-unverified-tokens-from-network",
            "Allow lenient or open authentication on an address that other machines can reach.",
            .boolean,
            page:
                "allow `lenient` and `open` on an address that other machines can reach; otherwise they listen on loopback only",
            to: \.configuration.allowsUnverifiedTokensFromNetwork),
        Setting(
            "demo-seed",
            "Let the demo clients log in; by default in all modes but strict.",
            .boolean,
            pageDefault: "all but strict",
            page: """
                let the demo clients log in. In strict mode on an address that other machines can reach, no client may \
                have a secret or API key of the demo without it, also not by `clients` or a seed
                """,
            to: \.configuration.hasDemoSeed),
        Setting(
            "clients",
            "A YAML file with the clients that may log in.",
            .path,
            page: "a YAML file with the clients that may log in, such as `seed/clients.yaml`",
            to: \.configuration.clientsFile),
        Setting(
            "fixtures",
            "A YAML file with fixtures for the fake transcriber.",
            .path,
            page: "a YAML file with fixtures for the fake transcriber, such as `seed/fixtures.yaml`",
            to: \.configuration.fixturesFile),
        Setting(
            "seed",
            "YAML files with clients, clinicians, templates and finished visits, as the verb seed takes them.",
            .paths,
            page: """
                YAML files with clients, clinicians, templates and finished consultations, as the verb `seed` takes \
                them, separated by commas. They are added before the server is ready, each once to a data folder
                """,
            to: \.configuration.seedFiles),
        Setting(
            "faults",
            "YAML files with lists of fault rules, which apply from the start on.",
            .paths,
            page: "YAML files with lists of [fault rules](faults.md#at-the-start), which apply from the start on",
            to: \.configuration.faultFiles),
        Setting(
            "start-dir",
            "A folder with files seed*.yaml, faults*.yaml and fixtures.yaml. It need not be there.",
            .path,
            page: """
                a folder with files `seed*.yaml`, `faults*.yaml` and `fixtures.yaml`, which are read as `seed`, \
                `faults` and `fixtures` are. It need not be there; the image has `/start`
                """,
            to: \.configuration.startFolder),
        Setting(
            "signing-key-file",
            "A file with the signing key, at least 32 bytes; by default one in the data folder.",
            .fileContents,
            page: """
                a file with the signing key, at least 32 bytes; without it the server makes a key in the data folder. \
                `SCRIBE_SIGNING_KEY` holds the key itself and wins
                """
        ) { key, run in run.configuration.signingKey = Array(key) },
        Setting(
            "admin-token",
            "The token for the operator API, /__admin; by default one in the data folder.",
            .text,
            valueName: "token",
            pageDefault: "made in the data folder",
            page: """
                the token for the operator API, `/__admin`, as `Authorization: Bearer`. Without this setting the server \
                makes a token in the data folder (`admin-token`, 0600), where the command line finds it, and requires \
                none while it listens on loopback without `auth: strict`
                """,
            to: \.configuration.adminToken
        ).secret(),
        Setting(
            "access-token-lifetime",
            "How long an access token is valid.",
            .seconds,
            default: "24h",
            page: """
                how long an access token is valid; after that it is 401, and clients refresh it. With less than a day the \
                Python SDK for sessions fails
                """,
            to: \.configuration.eka.lifetimes.accessToken),
        Setting(
            "refresh-token-lifetime",
            "How long a refresh token is valid.",
            .seconds,
            default: "30d",
            page: "how long a refresh token is valid; after that a refresh is 403, and clients sign out",
            to: \.configuration.eka.lifetimes.refreshToken),
        Setting(
            "credentials-lifetime",
            "How long S3 credentials are valid.",
            .seconds,
            default: "12h",
            page: "how long S3 credentials are valid; some clients fetch them once per consultation",
            to: \.configuration.eka.lifetimes.uploadCredentials),
        Setting(
            "cors-origins",
            "Web origins that may call the server, separated by commas, or *; by default localhost and the SDKs' own.",
            .origins,
            pageDefault: "localhost, `*.eka.care`, `app://ekascribe`; strict: none",
            page: """
                origins of web pages that may call the server, separated by commas: \
                `https://app.example,https://*.staging.example`; `*` for all
                """,
            to: \.configuration.allowedOrigins),
        Setting(
            "allowed-hosts",
            "Further hosts that the server answers for, separated by commas; *.NAME, or * for all.",
            .hosts,
            valueName: "list",
            pageDefault: "none",
            page: """
                further hosts that the server answers for: `scribe.example,*.staging.example`, or `*` for all. It always \
                answers for addresses, names without a dot, names that end in `localhost`, `local`, `internal`, `test`, \
                `lan` or `home.arpa`, the SDKs' hosts, `*.eka.care`, `tls-name` and `public-url`. Any other host is 421, \
                unless `auth` is `strict`
                """,
            to: \.configuration.allowedHosts),
        Setting(
            "client-profiles",
            "The SDK of a client id, whatever SDK its requests name: ID=PROFILE, separated by commas.",
            .clientProfiles,
            page: """
                the SDK of a client id, whatever SDK `flavour` or `User-Agent` of its requests name: \
                `my-app=ios,kiosk=web`. Profiles: `generic`, `ios`, `android`, `legacy-ios`, `web`, `dotnet`, \
                `python`
                """,
            to: \.configuration.eka.clientProfiles),
        Setting(
            "firebase-jwks-url",
            "The URL of Firebase's JWK set, to verify tokens for /v4/listen; needs firebase-project.",
            .url,
            valueName: "url",
            pageDefault: "none",
            page: """
                the URL of Firebase's JWK set. With `firebase-project` the server verifies Firebase's tokens in every mode, \
                and their users act for the business of `firebase-client`. Google's set is at \
                `https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com`. The server keeps \
                it for 10 min, and fetches it again for a token that no key fits. `outbound-allow` must list the host if its \
                address is private
                """,
            to: \.configuration.omi.jwksURL),
        Setting(
            "firebase-jwks-file",
            "A file with Firebase's JWK set, in place of firebase-jwks-url.",
            .fileContents,
            pageDefault: "none",
            page: """
                a file with Firebase's JWK set, in place of `firebase-jwks-url`. The server reads it only at its start
                """
        ) { keys, run in run.configuration.omi.jwks = keys },
        Setting(
            "firebase-project",
            "The Firebase project that issues tokens for /v4/listen.",
            .text,
            valueName: "name",
            pageDefault: "none",
            page: "the Firebase project that tokens must name as their audience and issuer",
            to: \.configuration.omi.project
        ),
        Setting(
            "firebase-client",
            "The client whose business Firebase's users act for.",
            .text,
            valueName: "id",
            pageDefault: "the demo client",
            page: "the client whose business Firebase's users, and users of the admin key, act for"
        ) { client, run in run.configuration.omi.client = ClientID(client) },
    ]
}
