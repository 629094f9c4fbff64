import Alliance
import Eka
import Engines
import Foundation
import Listen
import Omi
import ScribeHTTP
import ScribeServer
import Suki

extension Setting {
    /// Settings of the APIs' behaviour.
    static let behaviour: [Setting] = [
        Setting(
            "strict-docs",
            "Answer as the vendor documents, even where its clients need something else.",
            .boolean,
            page: """
                answer as the vendor documents, even where its clients need something else: [what that \
                changes](failures.md#answer-as-documented)
                """
        ) { isStrict, run in
            run.configuration.eka.isStrict = isStrict
            run.configuration.alliance.isStrict = isStrict
        },
        Setting(
            "durability",
            "Acknowledged data survives a killed process (normal), or a power cut as well (full).",
            .choice(),
            default: "normal",
            page: "acknowledged data survives a killed process (`normal`), or a power cut as well (`full`)",
            to: \.configuration.durability),
        Setting(
            "long-poll",
            "How long the server holds a status poll.",
            .duration,
            default: "14s"
        ) { longest, run in
            run.configuration.eka.longPoll = longest
            // No SDK for sessions waits longer than 15 s.
            run.configuration.alliance.longPoll = min(longest, .seconds(14))
        },
        Setting(
            "session-lifetime",
            "How long a protocol session stays open without audio.",
            .duration(atLeast: .milliseconds(100)),
            default: "60m",
            page: """
                how long a protocol session (`/voice/v1`) stays open without audio; after that it is 410. With audio it \
                stays open for at least three hours after the last of it, except with `strict-docs`
                """,
            to: \.configuration.alliance.lifetime),
        Setting(
            "suki-shortest",
            "The least audio of an ambient session; a shorter one is skipped. 0s allows any.",
            .duration(atLeast: .zero),
            default: "60s",
            page: "the least audio of an ambient session; a shorter one ends as `skipped`. `0s` allows any",
            to: \.configuration.suki.minimumDuration),
        Setting(
            "suki-lifetime",
            "How long an ambient session may stay open.",
            .duration(atLeast: .milliseconds(100)),
            default: "7d",
            page: "how long an ambient session may stay open: devices record offline, and upload later",
            to: \.configuration.suki.lifetime),
        Setting(
            "accept-gzip",
            "Read JSON with Content-Encoding: gzip, which is otherwise refused.",
            .boolean,
            page:
                "read JSON with `Content-Encoding: gzip`, which is otherwise 415; objects and audio are stored as sent",
            to: \.configuration.acceptsGzip),
        Setting(
            "validate",
            "Whether requests that do not fit the contract are told or refused; by default told on loopback only.",
            .choice(),
            pageDefault: "`warn` on loopback, except in strict mode; else `off`",
            page: """
                whether requests and answers are \
                [checked against the contract](ci.md#your-requests-as-they-come): `off`; `warn` tells what \
                does not fit in log, journal and the header `X-Scribe-Findings`; `strict` refuses such a request
                """,
            to: \.configuration.contractMode),
        Setting(
            "s3-region",
            "Whether a signature for another region than ap-south-1 is taken (any) or refused as AWS does (strict).",
            .choice(of: [false, true]) { $0 ? "strict" : "any" },
            default: "any",
            page: """
                whether a signature for another region than `ap-south-1` is taken and noted (`any`), or refused as AWS \
                does (`strict`)
                """,
            to: \.configuration.isS3RegionStrict),
        Setting(
            "listen-dialect",
            "The dialect of the live API, where vendors differ: deepgram or subq.",
            .choice(of: [false, true]) { $0 ? "subq" : "deepgram" },
            default: "deepgram",
            page: """
                the dialect of the live API, where vendors differ: `subq` sends interim results by default, begins with \
                Metadata and gives channels as `[0]`
                """
        ) { isSubQ, run in run.configuration.listen.speaksSubQ = isSubQ },
        Setting(
            "listen-models",
            "Names of models that requests may use beside Deepgram's, separated by commas.",
            .modelNames,
            page: "names of models that requests may use beside Deepgram's and ids, separated by commas"
        ) { names, run in run.configuration.listen.models = Set(names) },
        Setting(
            "listen-needs-audio",
            "Close a live socket to which only texts are sent, such as KeepAlive, after listen-idle.",
            .boolean,
            page: """
                close a live socket to which only texts are sent, such as `KeepAlive`, after `listen-idle`: Deepgram's \
                pages disagree about that
                """,
            to: \.configuration.listen.needsAudio),
        Setting(
            "listen-idle",
            "Time without audio or a text message after which a live socket is closed.",
            .duration(atLeast: .milliseconds(100)),
            default: "10s",
            to: \.configuration.listen.idleTime),
        Setting(
            "stream-idle",
            "Time without audio after which the stream of a protocol session is closed.",
            .duration(atLeast: .milliseconds(100)),
            default: "5m",
            page: "time without audio after which the stream of a protocol session is closed; pings do not count",
            to: \.configuration.alliance.streamIdle),
        Setting(
            "listen-sockets",
            "The maximum number of open live sockets.",
            .integer(1...100_000),
            default: "1000",
            page: "the maximum number of open live sockets; sockets of devices have the same limit of their own",
            to: \.configuration.sockets.most),
        Setting(
            "listen-sockets-of-business",
            "The maximum number of open live sockets of one business.",
            .integer(1...100_000),
            default: "200",
            page:
                "the maximum number of open live sockets of one business; sockets of devices have the same limit of their own",
            to: \.configuration.sockets.maxOfBusiness),
        Setting(
            "decoders",
            "The maximum number of encoded live streams that are decoded at a time.",
            .integer(1...1000),
            default: "32",
            page: """
                the maximum number of encoded live streams that are decoded at a time, \
                [40 MB](../Benchmarks/README.md#decoder-memory) each. A business may \
                use a quarter of them (at most 8) while any is free, and more only while that many stay free; a stream \
                without data for `listen-idle` gives up its place
                """,
            to: \.configuration.decoders),
        Setting(
            "conversation-timeout",
            "The least silence after which the conversation of a device ends.",
            .duration(atLeast: .seconds(1)),
            default: "120s",
            page:
                "the least silence after which the conversation of a device ends, and the default for devices that name none",
            to: \.configuration.omi.conversationTimeout),
        Setting(
            "omi-idle",
            "Time without a message after which a device's socket is closed.",
            .duration(atLeast: .milliseconds(100)),
            default: "90s",
            to: \.configuration.omi.idleTime
        ),
        Setting(
            "omi-admin-key-file",
            "A file with the admin key: `Bearer <key><uid>` acts for any user; by default none.",
            .fileContents,
            pageDefault: "none",
            page: """
                a file with the admin key: `Bearer <key><uid>` acts for any user of the business of `firebase-client`
                """
        ) { key, run in run.configuration.omi.adminKey = String(decoding: key, as: UTF8.self) },
        Setting(
            "outbound-allow",
            "Hosts and ranges beyond the public internet that clients may make the server call, such as 10.0.0.0/8.",
            .outboundExceptions,
            valueName: "list",
            pageDefault: "none",
            page: """
                hosts and ranges beyond the public internet, such as `receiver,10.0.0.0/8`, that a client may name for a \
                webhook, a recording's `url` or a `callback`. This machine is allowed while the server listens on loopback
                """,
            to: \.configuration.outboundAllowed),
        Setting(
            "outbound-ca",
            "A PEM file with further authorities that the server trusts when it calls others over TLS.",
            .authorities,
            pageDefault: "none",
            page: """
                a PEM file with further authorities that the server trusts, beside this machine's, when it calls others over \
                TLS: the recogniser, webhooks, JWK sets, a recording's `url` and a `callback`
                """,
            to: \.configuration.outboundTrust),
        Setting(
            "webhook-pauses",
            "The pauses between the attempts to send a webhook.",
            .durations,
            default: "10s,60s,5m,30m",
            page:
                "the pauses between the attempts to send a webhook; there is one attempt more than pauses",
            to: \.configuration.webhookPauses),
    ]
}
