import ArgumentParser
import Basics
import Foundation
import NIOCore
import NIOHTTP1
import ScribeHTTP

struct RequestCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Show, verify and export the requests, sockets and webhooks of a running server.",
        discussion: """
            Conditions are pairs, such as operation=commitTransaction status=5xx. requests verify --help lists them all.
              scribe-emulator requests tail
              scribe-emulator requests verify operation=initTransaction times=1
            """,
        subcommands: [
            ListRequests.self, ShowRequest.self, TailRequests.self, VerifyRequests.self, ExportRequests.self,
            RecordSocket.self, PlaySocket.self, ClearRequests.self,
        ])
}

extension ControlClient {
    /// Whether the server keeps a journal.
    /// - Throws: `ExitCode`, after it wrote another reason to standard error.
    func keepsJournal() async throws -> Bool {
        do {
            _ = try await answer("GET", "requests?limit=1")
            return true
        } catch let refusal as Refusal {
            guard refusal.status == 409 else { throw refusal.explained() }
            return false
        }
    }
}

/// Exchange in an answer of the server.
private struct ListedRequest: Decodable {
    let id: Int
    let kind: String
    let method: String
    let path: String?
    let route: String?
    let operation: String?
    let event: String?
    let status: Int?
    let end: String
    let ms: Double?
    let fault: String?
    let reason: String?
    let nearest: Nearest?
    let findings: [JSONValue]?

    struct Nearest: Decodable {
        let method: String
        let path: String
    }

    /// One line, with the likely intent and the reason of the refusal.
    var line: String {
        var words = ["\(id)", method, path ?? route ?? "-", status.map(String.init) ?? end]
        if kind != "request" { words.insert(event.map { "\(kind) \($0)" } ?? kind, at: 1) }
        if let ms { words.append("\(ms) ms") }
        if let operation { words.append(operation) }
        if let fault { words.append("fault \(fault)") }
        if let findings { words.append(findings.count.counted("finding")) }
        if let nearest { words.append("meant: \(nearest.method) \(nearest.path)?") }
        if let reason { words.append(reason) }
        return words.joined(separator: "  ")
    }
}

struct ListRequests: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the last requests.",
        discussion: FaultPairs.help([.conditions, .ofJournal]))

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Option(help: "Only the last of them.")
    var limit = 100

    @Flag(help: "Only requests that reached no operation, with the one that was probably meant.")
    var unmatched = false

    @Argument(help: "Conditions such as operation=commitTransaction.")
    var pairs: [String] = []

    private struct List: Decodable {
        let requests: [ListedRequest]
        let dropped: Int
    }

    func validate() throws { _ = try FaultPairs(pairs) }

    func call() throws -> OperatorCall {
        let path = unmatched ? "requests/unmatched" : "requests"
        return .init("GET", path + (try FaultPairs(pairs).query(["limit": String(limit)]))) { (list: List) in
            let gone = list.dropped > 0 ? ["\(list.dropped) earlier ones are gone: --journal-max keeps more"] : []
            let lines = list.requests.isEmpty ? ["no requests"] : list.requests.map(\.line)
            return (gone + lines).joined(separator: "\n")
        }
    }
}

struct ShowRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print a request with its headers and bodies, as JSON.",
        discussion: "A body that is JSON is printed as such. With --json all is printed as the server sends it.")

    @OptionGroup var options: OperatorOptions<WholeWorld>
    @Argument(help: "The number of the request.") var id: Int

    func run() async throws {
        let data = try await options.client().data("GET", "requests/\(id)")
        guard !options.json, let json = try? JSONSerialization.jsonObject(with: data) else {
            return print(String(decoding: data, as: UTF8.self))
        }
        let pretty = try JSONSerialization.data(
            withJSONObject: Self.readable(json), options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        print(String(decoding: pretty, as: UTF8.self))
    }

    /// The value, with JSON in place of each text of an exchange that is an object or a list.
    private static func readable(_ value: Any) -> Any {
        switch value {
        case let items as [Any]: return items.map(readable)
        case var members as [String: Any]:
            if let text = members["text"] as? String, text.hasPrefix("{") || text.hasPrefix("["),
                let json = try? JSONSerialization.jsonObject(with: Data(text.utf8))
            {
                members["text"] = nil
                members["json"] = json
                return members
            }
            return members.mapValues(readable)
        default: return value
        }
    }
}

struct TailRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Print requests as they come, until the server stops.",
        discussion: FaultPairs.help([.conditions, .ofJournal]))

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Flag(help: "Print those before as well.")
    var all = false

    @Argument(help: "Conditions such as operation=commitTransaction.")
    var pairs: [String] = []

    func validate() throws { _ = try FaultPairs(pairs) }

    func run() async throws {
        let client = try options.client()
        var events = EventLines()
        try await client.stream("requests/stream" + FaultPairs(pairs).query(all ? ["all": "true"] : [:])) { bytes in
            for event in events.add(bytes) where options.json || event.name == "exchange" {
                guard !options.json else {
                    print(event.data)
                    continue
                }
                let request: ListedRequest = try client.read(Data(event.data.utf8))
                if request.end != "open" || request.kind == "socket" { print(request.line) }
            }
            fflush(nil)
        }
    }
}

/// Splits a stream of server-sent events.
struct EventLines {
    private var rest: [UInt8] = []
    private var name = ""

    /// Adds bytes.
    /// - Returns: The events that are whole.
    mutating func add(_ bytes: ByteBuffer) -> [(name: String, data: String)] {
        rest += bytes.readableBytesView
        var events: [(name: String, data: String)] = []
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Array(lines.removeLast())
        for line in lines.map({ String(decoding: $0, as: UTF8.self) }) {
            if line.hasPrefix("event: ") { name = String(line.dropFirst("event: ".count)) }
            if line.hasPrefix("data: ") { events.append((name, String(line.dropFirst("data: ".count)))) }
        }
        return events
    }
}

struct VerifyRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check how many requests match; print the nearest ones, and exit with 1, if that is not as expected.",
        discussion: FaultPairs.help(RuleNames.ofExpectations)
    )

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Option(help: ArgumentHelp("Wait until it is true, for this time at most.", valueName: "time"))
    var timeout: String?

    @Argument(help: "Conditions such as operation=commitTransaction times=1.")
    var pairs: [String]

    private struct Outcome: Decodable {
        let count: Int
        let diff: String
    }

    func validate() throws { _ = try FaultPairs(pairs + (timeout.map { ["timeout=\($0)"] } ?? [])) }

    func run() async throws {
        let client = try options.client()
        let body = try FaultPairs(pairs + (timeout.map { ["timeout=\($0)"] } ?? [])).body
        let path = timeout == nil ? "requests/verify" : "requests/wait"
        do {
            let time = timeout.flatMap { ClockDuration($0)?.duration } ?? .zero
            let data = try await client.answer(
                "POST", path, body, within: .seconds(30 + Int64(saturating: min(600, time / .seconds(1)))))
            if options.json { return print(String(decoding: data, as: UTF8.self)) }
            let outcome: Outcome = try client.read(data)
            print("verified: \(outcome.count) of \(pairs.joined(separator: " "))")
        } catch let refusal as ControlClient.Refusal {
            guard refusal.status == 422, let outcome: Outcome = try? ControlClient.decoded(refusal.body) else {
                throw refusal.explained()
            }
            print(options.json ? String(decoding: refusal.body, as: UTF8.self) : outcome.diff)
            throw ExitCode.failure
        }
    }
}

struct ExportRequests: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the requests to a new file, as an HTTP archive (HAR). It may hold what patients have said.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Argument(help: "The file; - for standard output.", completion: .file(), transform: Setting.path)
    var file: String

    @Argument(help: "Conditions such as operation=commitTransaction.")
    var pairs: [String] = []

    func validate() throws { _ = try FaultPairs(pairs) }

    func call() -> OperatorCall {
        .init(done: file == "-" ? nil : "exported: \(file)") {
            try await $0.download("requests/export" + FaultPairs(pairs).query(), to: file)
        }
    }
}

struct ClearRequests: NamespacedCommand {
    static let configuration = CommandConfiguration(commandName: "clear", abstract: "Forget all requests.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

    func call() -> OperatorCall { .init(done: "cleared") { _ = try await $0.data("DELETE", "requests") } }
}
