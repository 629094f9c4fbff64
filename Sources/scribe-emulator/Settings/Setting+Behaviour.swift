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
import Suki

extension Setting {
    /// How it answers.
    static let behaviour: [Setting] = [
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
            "session-lifetime",
            "How long a session of the session protocol may be open, for example 60m.",
            .duration(atLeast: .milliseconds(100)),
            default: "60m",
            valueName: "time",
            page: "how long a session of `/voice/v1` may be open; who ends it later, or asks, is told 410",
            to: \.configuration.sessionLifetime),
        Setting(
            "suki-shortest",
            "What an ambient session must have recorded, or it is skipped, for example 60s; 0s for anything.",
            .duration(atLeast: .zero),
            default: "60s",
            valueName: "time",
            page: "what an ambient session must have recorded at least; a shorter one ends as `skipped`. `0s` for any",
            to: \.configuration.suki.shortest),
        Setting(
            "suki-lifetime",
            "How long an ambient session may be open, for example 7d.",
            .duration(atLeast: .milliseconds(100)),
            default: "7d",
            valueName: "time",
            page: "how long an ambient session may be open: devices record offline, and tell later",
            to: \.configuration.suki.lifetime),
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
            "stream-idle",
            "After how long without audio the stream of a session is closed, for example 5m.",
            .duration(atLeast: .milliseconds(100)),
            default: "5m",
            valueName: "time",
            page: "after so long without audio the stream of a session is closed; pings are none",
            to: \.configuration.streamIdle),
        Setting(
            "listen-sockets",
            "How many live sockets may be open at a time.",
            .integer(1...100_000),
            default: "1000",
            page: "live sockets at a time, and as many of devices"
        ) { count, run in
            run.configuration.listen.sockets = count
            run.configuration.omi.sockets = count
        },
        Setting(
            "listen-sockets-of-business",
            "How many live sockets of one business may be open at a time.",
            .integer(1...100_000),
            default: "200",
            page: "live sockets of one business at a time, and as many of devices"
        ) { count, run in
            run.configuration.listen.socketsOfBusiness = count
            run.configuration.omi.socketsOfBusiness = count
        },
        Setting(
            "decoders",
            "How many live streams that come encoded may be decoded at a time.",
            .integer(1...1000),
            default: "32",
            page: """
                live streams that come encoded, decoded at a time: some 40 MB each. A business may have more than a quarter of \
                them (8 at most) only while as many stay free; one that was sent nothing for `listen-idle` gives way
                """,
            to: \.configuration.decoders),
        Setting(
            "conversation-timeout",
            "How long a device is silent at least before its conversation is over, for example 120s.",
            .duration(atLeast: .seconds(1)),
            default: "120s",
            valueName: "time",
            page: "how long a device is silent at least, and unless it says otherwise, before its conversation is over",
            to: \.configuration.omi.conversationTimeout),
        Setting(
            "omi-idle",
            "After how long without a message a device's socket is closed, for example 90s.",
            .duration(atLeast: .milliseconds(100)),
            default: "90s",
            valueName: "time",
            page: "after so long without a message a device's socket is closed. Was `edge-idle`",
            to: \.configuration.omi.idleTime
        ).formerly("edge-idle"),
        Setting(
            "omi-admin-key-file",
            "A file with a key with which `Bearer <key><uid>` acts for any user; by default nobody may.",
            .file,
            default: "",
            valueName: "path",
            pageDefault: "none",
            page: """
                a file with a key with which `Bearer <key><uid>` acts for any user of the demo tenant's business. Was \
                `edge-admin-key-file`
                """
        ) { key, run in run.configuration.omi.adminKey = String(decoding: key, as: UTF8.self) }
        .formerly("edge-admin-key-file"),
        Setting(
            "outbound-allow",
            "Hosts and ranges beside the public internet that clients may send the server to, for example 10.0.0.0/8.",
            .outboundExceptions,
            default: "",
            valueName: "list",
            pageDefault: "none",
            page: """
                hosts and ranges, such as `receiver,10.0.0.0/8`, that a client may name for a webhook, a recording's `url` or a \
                `callback` beside the public internet; this machine itself is one while the server listens on loopback
                """,
            to: \.configuration.outboundAllowed),
        Setting(
            "outbound-ca",
            "A PEM file with authorities to trust beside this machine's when the server calls others over TLS.",
            .authorities,
            default: "",
            valueName: "path",
            pageDefault: "none",
            page: """
                a PEM file with authorities that are trusted beside this machine's own when the server calls others over TLS: \
                the recogniser, webhooks, JWK sets, a recording's `url` and a `callback`
                """,
            to: \.configuration.outboundTrust),
        Setting(
            "webhook-pauses",
            "How long to wait between one attempt to tell a webhook and the next, for example 10s,60s,5m,30m.",
            .durations,
            default: "10s,60s,5m,30m",
            valueName: "times",
            page:
                "how long to wait between one attempt to tell a webhook and the next; there is one attempt more than times",
            to: \.configuration.webhookPauses),
        Setting(
            "memory-budget",
            "How much memory is held for all clients together, for example 256MB.",
            .bytes,
            default: "256MB",
            valueName: "size",
            page: """
                memory for what is held for clients: bodies, unfinished messages, audio that is in no chunk yet, pictures in \
                pieces, answers that are not taken. One business has at most half of it, or all but an eighth while no other \
                holds any; whoever finds no room within 10 s is told to come back (503, or 1013 on a socket)
                """,
            to: \.configuration.memoryBudget),
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
            "explain",
            "Whether the log explains refused requests; never in strict mode.",
            .boolean,
            pageDefault: "all but strict",
            page: """
                whether the log explains each refused request, in at most 10 lines a second: method, path, host, the family \
                that took it, the nearest route, why, and a web page's origin that `cors-origins` lacks; never a query, \
                another header or a body. Has no effect where `auth` is `strict`
                """,
            to: \.configuration.explains),
        Setting(
            "log-level",
            "trace, debug, info, notice, warning, error or critical.",
            .choice(of: Logger.Level.allCases) { $0.rawValue },
            default: "info",
            page: "`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`",
            to: \.logLevel),
        Setting(
            "log-format",
            "text or json; by default text on a terminal and JSON otherwise.",
            .choice(),
            pageDefault: "`text` on a terminal, else `json`",
            page: "`text` is for people, `json` has one object a line: [log fields](metrics.md#log-fields)",
            to: \.logFormat),
    ]
}
