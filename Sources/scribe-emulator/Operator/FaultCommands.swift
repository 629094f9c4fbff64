import ArgumentParser
import Basics
import Foundation

struct FaultCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault",
        abstract: "Make requests, sockets, recognitions, notes or webhooks of a running server fail on purpose.",
        discussion: """
            A rule is a list of pairs, such as operation=commitTransaction status=503 times=2. docs/faults.md lists \
            them all.
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

/// Pairs of a rule on the command line.
struct FaultPairs {
    let body: JSON

    /// - Throws: `ValidationError` for a text without an equals sign, or a name that is there twice.
    init(_ pairs: [String]) throws {
        var members: [JSON.Member] = []
        for pair in pairs {
            guard let sign = pair.firstIndex(of: "="), sign > pair.startIndex else {
                throw ValidationError("'\(pair)' is no pair; write NAME=VALUE, such as status=503")
            }
            let name = String(pair[..<sign]).replacing("-", with: "_")
            guard !members.contains(where: { $0.name == name }) else {
                throw ValidationError("'\(name)' is there twice; leave one out")
            }
            members.append((name, .string(String(pair[pair.index(after: sign)...]))))
        }
        body = .object(members)
    }
}

struct AddFault: NamespacedCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a rule behind the others.")

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Argument(help: "Pairs such as operation=commitTransaction status=503.")
    var pairs: [String]

    func validate() throws { _ = try FaultPairs(pairs) }

    func call() throws -> OperatorCall { try .init(adding: pairs, at: "faults") }
}

struct AddNextFault: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Add a rule that applies once, or as often as times=N says.")

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
        let pairs = names.map { "\($0)=\(text($0))" }.joined(separator: " ")
        let state = self["is_on"] == .bool(false) ? "  off" : ""
        return "\(text("id"))  \(pairs)  matched \(text("matched"))  applied \(text("applied"))\(state)"
    }
}
