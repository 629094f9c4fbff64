import Basics
import Connections
import Foundation
import Journal
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer

extension Setting {
    /// Settings of limits, of the test bench and of logs.
    static let limits: [Setting] = [
        Setting(
            "memory-budget",
            "Memory for data that the server holds for all clients together.",
            .bytes,
            default: "256MB",
            page: """
                memory for data that the server holds for clients: bodies, unfinished messages, audio before it is in a \
                chunk, parts of pictures, unsent answers. One business may hold at most half of it, or seven eighths while \
                no other holds any. A request that finds no room within 10 s is refused (503, or 1013 on a socket), and may \
                be repeated
                """,
            to: \.configuration.memoryBudget),
        Setting(
            "storage-quota",
            "How much data a business may store, for example 50GB; by default without a limit.",
            .bytes,
            pageDefault: "none",
            page: "how much data a business may store, such as `50GB`; more is 403 `QuotaExceeded`",
            to: \.configuration.quotas.storedBytes),
        Setting(
            "open-transactions-quota",
            "The maximum number of open transactions of a client; by default without a limit.",
            .integer(0...1_000_000_000),
            pageDefault: "none",
            page: """
                the maximum number of transactions of a client that are neither committed nor two hours old; more is \
                `txn_limit_exceeded`
                """,
            to: \.configuration.quotas.openTransactions),
        Setting(
            "client-faults",
            "Let requests ask for a fault by the header X-Scribe-Fault; by default on loopback, except in strict mode.",
            .boolean,
            pageDefault: "on loopback, except in strict mode",
            page: "let requests ask for a [fault](faults.md#for-one-request) by the header `X-Scribe-Fault`",
            to: \.configuration.readsFaultHeader),
        Setting(
            "journal",
            "What the journal keeps of each exchange; by default all on loopback, except in strict mode, else nothing.",
            .choice(),
            pageDefault: "`full` on loopback, except in strict mode; else `off`",
            page: """
                what the [journal](testing.md#the-journal) keeps of each exchange: `off`; `metadata` for route, status, \
                sizes and times; `full` for heads and bodies, with what patients have said
                """,
            to: \.configuration.journalMode),
        Setting(
            "journal-max",
            "The maximum number of exchanges in the journal of a namespace.",
            .integer(1...100_000),
            default: "10000",
            page: "the maximum number of exchanges in the journal of a namespace; the oldest one goes first",
            to: \.configuration.journal.entries),
        Setting(
            "journal-max-bytes",
            "Memory for the journal of a namespace.",
            .bytes,
            default: "16MB",
            page: """
                memory for the journal of a namespace; the journals of all of them together take a quarter of \
                `namespace-memory`
                """,
            to: \.configuration.journal.bytes),
        Setting(
            "namespaces",
            "Allow namespaces, the throw-away worlds of tests; by default in all modes but strict.",
            .boolean,
            pageDefault: "all modes but strict",
            page: "allow [namespaces](namespaces.md), the throw-away worlds of tests",
            to: \.configuration.namespaces.isAllowed),
        Setting(
            "namespaces-max",
            "The maximum number of namespaces at a time.",
            .integer(1...100_000),
            default: "1000",
            page: "the maximum number of namespaces at a time; one more is 503",
            to: \.configuration.namespaces.limit),
        Setting(
            "namespace-idle",
            "Time without a request or an open socket after which a namespace is deleted.",
            .duration(atLeast: .milliseconds(100)),
            default: "1h",
            page: "time without a request or an open socket after which a namespace is deleted, by the machine's clock",
            to: \.configuration.namespaces.idleTime),
        Setting(
            "namespace-memory",
            "Memory for the rows and journals of all namespaces together.",
            .bytes,
            default: "1GB",
            page: """
                memory for the rows and journals of all namespaces together; journals take a quarter of it, unless they \
                are off; a write that finds no room is 503
                """,
            to: \.configuration.namespaces.memory),
        Setting(
            "request-timeout",
            "Time limit for the head of a request, and for each pause in its body.",
            .duration,
            default: "10s",
            to: \.configuration.connectionLimits.requestTime),
        Setting(
            "object-wait",
            "How long after commit a listed file may still arrive.",
            .duration,
            default: "10s",
            to: \.configuration.jobs.objectWait),
        Setting(
            "explain",
            "Explain refused requests in the log; never in strict mode.",
            .boolean,
            pageDefault: "all but strict",
            page: """
                explain each refused request in the log, in at most 10 lines per second: method, path, host, the family \
                that answered, the nearest route, the reason, and the origin of a web page that `cors-origins` lacks; never \
                a query, another header or a body. It has no effect if `auth` is `strict`
                """,
            to: \.configuration.explains),
        Setting(
            "log-level",
            "The lowest level in the log: trace, debug, info, notice, warning, error or critical.",
            .choice(of: Logger.Level.allCases) { $0.rawValue },
            default: "info",
            page: "the lowest level in the log: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`",
            to: \.logLevel),
        Setting(
            "log-format",
            "The format of the log: text or json; by default text on a terminal, else JSON.",
            .choice(),
            pageDefault: "`text` on a terminal, else `json`",
            page: "`text` is for people, `json` has one object per line: [log fields](metrics.md#log-fields)",
            to: \.logFormat),
    ]
}
