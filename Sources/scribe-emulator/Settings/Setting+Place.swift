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
    /// What it listens on, and where its data is.
    static let place: [Setting] = [
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
            "tls",
            "Listen for TLS too, with a certificate of this machine's own for the hosts that SDKs have compiled in.",
            .boolean,
            default: "false",
            pageDefault: "`false`; `true` with `tls-certificate`",
            page: """
                listen for TLS too (HTTP/1.1, HTTP/2, WebSockets), with a certificate for the hosts that SDKs have compiled \
                in, from an authority of your own: [TLS](tls.md)
                """,
            to: \.configuration.tls.isOn),
        Setting(
            "tls-port",
            "The port to listen on for TLS; 0 picks a free one.",
            .integer(0...65535),
            default: "8443",
            page: "the port for TLS; 0 picks a free one",
            to: \.configuration.tls.port),
        Setting(
            "tls-name",
            "Names and addresses for the certificate beside those that are always in it, with commas between.",
            .certificateNames,
            default: "",
            valueName: "list",
            pageDefault: "none",
            page: """
                names and addresses that the certificate is for beside the SDKs' hosts, localhost and loopback: \
                `scribe.test,192.168.1.20`
                """,
            to: \.configuration.tls.names),
        Setting(
            "tls-dir",
            "The folder that keeps this machine's authority.",
            .text,
            valueName: "path",
            pageDefault: "`~/.local/share/scribe-emulator/tls`",
            page: "the folder that keeps the authority and its certificate; nobody else may be able to read it",
            to: \.configuration.tls.folder),
        Setting(
            "tls-certificate",
            "A PEM file with a certificate of your own and those of its issuers; turns TLS on.",
            .text,
            valueName: "path",
            pageDefault: "none",
            page: """
                a PEM file with a certificate of your own, followed by its issuers'; goes with `tls-key`, turns `tls` on, and is \
                read again when it changes
                """,
            to: \.configuration.tls.certificate),
        Setting(
            "tls-key",
            "A PEM file with the key of --tls-certificate.",
            .text,
            valueName: "path",
            pageDefault: "none",
            page: "a PEM file with its key, without a passphrase",
            to: \.configuration.tls.key),
        Setting(
            "public-url",
            "How clients reach the server, for example https://scribe.example; by default as each request did.",
            .origin,
            default: "",
            valueName: "url",
            pageDefault: "as each request did",
            page: """
                how clients reach the server, such as `https://scribe.example`: every link that is handed out begins with it \
                (upload forms, `upload_url`, `wss://`, discovery)
                """
        ) { url, run in run.configuration.publicURL = url.isEmpty ? nil : url },
        Setting(
            "trusted-proxies",
            "Addresses and ranges whose X-Forwarded-For, -Proto and -Host are believed.",
            .ranges,
            default: "",
            valueName: "list",
            pageDefault: "none",
            page: """
                addresses and ranges, such as `127.0.0.1,10.0.0.0/8`, whose `X-Forwarded-For`, `X-Forwarded-Proto` and \
                `X-Forwarded-Host` are believed; the latter two are not needed with `public-url`
                """,
            to: \.configuration.trustedProxies),
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
}
