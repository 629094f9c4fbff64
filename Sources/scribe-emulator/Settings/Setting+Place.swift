import Foundation
import Listen
import ScribeServer

extension Setting {
    /// Settings of addresses, TLS and the data folder.
    static let place: [Setting] = [
        Setting(
            "host",
            "The address to listen on, or the name of some; localhost is 127.0.0.1 and ::1.",
            .address,
            default: "localhost",
            page: """
                the address to listen on, or a name: then on all its addresses that this machine has. `localhost` is \
                `127.0.0.1` and `::1`
                """,
            to: \.configuration.host),
        Setting(
            "port",
            "The port to listen on; 0 picks a free one.",
            .integer(0...65535),
            default: "8087",
            to: \.configuration.port),
        Setting(
            "tls",
            "Also listen for TLS, with a development certificate for the hosts that are compiled into SDKs.",
            .boolean,
            pageDefault: "`false`; `true` with `tls-certificate`",
            page: """
                also listen for TLS (HTTP/1.1, HTTP/2, WebSockets), with a development certificate for the hosts that are \
                compiled into SDKs: [TLS](tls.md)
                """,
            to: \.configuration.tls.isOn),
        Setting(
            "tls-port",
            "The port to listen on for TLS; 0 picks a free one.",
            .integer(0...65535),
            default: "8443",
            to: \.configuration.tls.port),
        Setting(
            "tls-name",
            "Further names and addresses in the development certificate, separated by commas.",
            .certificateNames,
            valueName: "list",
            pageDefault: "none",
            page: """
                further names and addresses in the development certificate, beside the SDKs' hosts, localhost and loopback: \
                `scribe.test,192.168.1.20`
                """,
            to: \.configuration.tls.names),
        Setting(
            "tls-dir",
            "The folder of this machine's certificate authority.",
            .path,
            pageDefault: "`~/.local/share/scribe-emulator/tls`",
            page: "the folder of this machine's certificate authority; no other user may be able to read it",
            to: \.configuration.tls.folder),
        Setting(
            "tls-certificate",
            "A PEM file with your own certificate, followed by its issuers'; turns TLS on.",
            .path,
            pageDefault: "none",
            page: """
                a PEM file with your own certificate, followed by its issuers'; requires `tls-key` and turns `tls` on. The \
                server reads it again when it changes
                """,
            to: \.configuration.tls.certificate),
        Setting(
            "tls-key",
            "A PEM file with the key of --tls-certificate, without a passphrase.",
            .path,
            pageDefault: "none",
            page: "a PEM file with the key of `tls-certificate`, without a passphrase",
            to: \.configuration.tls.key),
        Setting(
            "public-url",
            "The base URL that clients use, for example https://scribe.example; by default that of each request.",
            .origin,
            valueName: "url",
            pageDefault: "that of each request",
            page: """
                the base URL that clients use, such as `https://scribe.example`: every link in an answer begins with it \
                (upload forms, `upload_url`, `wss://`, discovery)
                """,
            to: \.configuration.publicURL),
        Setting(
            "trusted-proxies",
            "Addresses and ranges of proxies whose X-Forwarded-For, -Proto and -Host the server trusts.",
            .ranges,
            valueName: "list",
            pageDefault: "none",
            page: """
                addresses and ranges of proxies, such as `127.0.0.1,10.0.0.0/8`, whose `X-Forwarded-For`, \
                `X-Forwarded-Proto` and `X-Forwarded-Host` the server trusts; with `public-url` it needs only the first
                """,
            to: \.configuration.trustedProxies),
        Setting(
            "ready-file",
            "A JSON file that the server writes when it is ready, with its base URL.",
            .path,
            page: """
                a JSON file with `base_url`, `tls_url` and `pid`, which the server writes when it is ready and removes \
                when it stops
                """,
            to: \.readyFile),
        Setting(
            "data-dir",
            "The folder for all data.",
            .path,
            default: ".scribe",
            page: "the folder for all data; only one server at a time can use it",
            to: \.configuration.dataFolder),
        Setting(
            "database",
            "Keep rows in PostgreSQL in place of the data folder, shared with other servers; needs --objects.",
            .database,
            valueName: "url",
            pageDefault: "the data folder",
            page: """
                a PostgreSQL database for the rows, `postgres://USER@HOST/DATABASE?schema=scribe`, which several servers \
                share: [several servers](scale-out.md); needs `objects`. Give the password as `PGPASSWORD`, or in the \
                file that `PGPASSFILE` names
                """,
            to: \.database
        ).secret(),
        Setting(
            "objects",
            "Keep audio in a bucket of S3, shared with other servers; needs --database.",
            .objects,
            valueName: "url",
            pageDefault: "the data folder",
            page: """
                a bucket of S3 for the audio, `s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION`, with the keys \
                in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`; needs `database`
                """,
            to: \.objects),
        Setting(
            "role",
            "The part of the shared work that this server takes: all, front (clients) or worker (recognition, notes).",
            .choice(),
            default: "all",
            page: """
                `front` serves clients and leaves recognition and notes to others, `worker` does nothing else, \
                `all` does both; needs `database`
                """,
            to: \.role),
        Setting(
            "ephemeral",
            "Keep rows in memory and audio in a temporary folder, which the server deletes when it stops.",
            .boolean,
            page: """
                keep rows in memory, within `namespace-memory`, and audio in a temporary folder, \
                which the server deletes when it stops
                """,
            to: \.configuration.isEphemeral),
        Setting(
            "snapshot",
            "A file of snapshot export that the server starts from; the data folder must hold no data.",
            .path,
            page: """
                a file of [`snapshot export`](namespaces.md#snapshots) that the server starts from; \
                the data folder must hold no data
                """,
            to: \.configuration.snapshotFile),
        Setting(
            "allow-reset",
            "Allow operators to reset the data folder.",
            .boolean,
            page: """
                allow `reset` and `snapshot restore` of the data folder, which delete its data; \
                with `ephemeral` they are always allowed
                """,
            to: \.configuration.allowsReset),
        Setting(
            "seed-value",
            "Make identifiers from this text, the same in each run; needs --ephemeral.",
            .seedValue,
            valueName: "text",
            pageDefault: "random identifiers",
            page: """
                a text from which the default namespace and new ones make their identifiers, \
                [the same in each run](namespaces.md#the-same-answers-in-each-run); needs `ephemeral`
                """,
            to: \.configuration.seedValue),
    ]
}
