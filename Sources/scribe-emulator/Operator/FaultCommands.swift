import ArgumentParser
import Basics
import Foundation
import ScribeHTTP

struct FaultCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault",
        abstract: "Make requests, sockets, recognitions, notes or webhooks of a running server fail on purpose.",
        discussion: """
            A rule is a list of pairs, such as operation=commitTransaction status=503 times=2. fault add --help lists \
            their names.
              scribe-emulator fault next operation=initTransaction status=500
              scribe-emulator fault add path=/voice/* delay=1s..3s probability=0.2
            """,
        subcommands: [AddFault.self, AddNextFault.self, ListFaults.self, ClearFaults.self])
}

extension OperatorCall {
    /// Adds a rule, and prints its name.
    fileprivate init(adding pairs: [String], at path: String) throws {
        self.init("POST", path, try FaultPairs(pairs).body) { (rule: JSONValue) in "added: \(rule.text("id"))" }
    }
}

/// Pairs of a rule, or of conditions, on the command line.
struct FaultPairs {
    private let pairs: [(name: String, value: String)]

    /// - Throws: `ValidationError` for a text without an equals sign.
    init(_ pairs: [String]) throws {
        self.pairs = try pairs.map { pair in
            guard let sign = pair.firstIndex(of: "="), sign > pair.startIndex else {
                throw ValidationError("'\(pair)' is no pair; write NAME=VALUE, such as status=503")
            }
            return (String(pair[..<sign]).replacing("-", with: "_"), String(pair[pair.index(after: sign)...]))
        }
    }

    /// The names of pairs, for `--help`. Each start makes the texts of all commands, and few print one.
    static func help(_ groups: [RuleNames]) -> String {
        let isAsked = Invocation.current.arguments.contains { $0.contains("help") || $0 == "-h" }
        return isAsked ? groups.map(\.help).joined(separator: "\n\n") : ""
    }

    /// The pairs as an object. A name that is there more than once has a list.
    var body: JSON {
        var members: [JSON.Member] = []
        for pair in pairs where !members.contains(where: { $0.name == pair.name }) {
            let values = pairs.filter { $0.name == pair.name }.map { JSON.string($0.value) }
            members.append((pair.name, values.count == 1 ? values[0] : .array(values) { $0 }))
        }
        return .object(members)
    }

    /// The pairs as a query.
    func query(_ more: [String: String] = [:]) -> String {
        let all = pairs.map { ($0.name, $0.value) } + more.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let escaped = all.map { "\($0.percentEncoded)=\($1.percentEncoded)" }
        return escaped.isEmpty ? "" : "?" + escaped.joined(separator: "&")
    }
}

struct AddFault: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a rule behind the others.",
        discussion: FaultPairs.help(RuleNames.ofRules))

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Argument(help: "Pairs such as operation=commitTransaction status=503.")
    var pairs: [String]

    func validate() throws { _ = try FaultPairs(pairs) }

    func call() throws -> OperatorCall { try .init(adding: pairs, at: "faults") }
}

struct AddNextFault: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Add a rule that applies once, or as often as times=N says.",
        discussion: FaultPairs.help(RuleNames.ofRules))

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Argument(help: "Pairs such as operation=commitTransaction status=503.")
    var pairs: [String]

    func validate() throws { _ = try FaultPairs(pairs) }

    func call() throws -> OperatorCall { try .init(adding: pairs, at: "faults/next") }
}

struct ListFaults: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the rules, and how often each was applied.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

    private struct List: Decodable {
        let faults: [JSONValue]
    }

    func call() -> OperatorCall {
        .init("GET", "faults") { (list: List) in
            list.faults.isEmpty ? "no fault rules" : list.faults.map(\.rule).joined(separator: "\n")
        }
    }
}

struct ClearFaults: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove a rule, or all of them.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Argument(help: "The rule's name; by default all rules.")
    var id: String?

    func call() -> OperatorCall {
        .init(done: "removed: \(id ?? "all fault rules")") {
            _ = try await $0.data("DELETE", id.map { "faults/\($0.percentEncoded)" } ?? "faults")
        }
    }
}

extension String {
    /// The text as part of a URL.
    var percentEncoded: String { addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String { self[name]?.scalarText ?? "…" }

    /// A rule with its conditions and effect, as `add` takes them, and its counts.
    fileprivate var rule: String {
        guard case .object(let members) = self else { return "" }
        let names = members.keys.sorted().filter { !["id", "is_on", "matched", "applied"].contains($0) }
        let pairs = names.flatMap { name in
            if case .array(let values)? = self[name] { return values.map { "\(name)=\($0.scalarText ?? "…")" } }
            return ["\(name)=\(text(name))"]
        }.joined(separator: " ")
        let state = self["is_on"] == .bool(false) ? "  off" : ""
        return "\(text("id"))  \(pairs)  matched \(text("matched"))  applied \(text("applied"))\(state)"
    }
}
