import ArgumentParser
import Foundation
import ScribeDomain

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

/// Flags of the commands about faults.
struct FaultOptions: ParsableArguments {
    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("The namespace; by default the server's own.", valueName: "name"))
    var namespace: String?

    @Flag(help: "Print JSON.")
    var json = false

    func client() throws -> ControlClient {
        try control.client(in: namespace.map { try NamespaceName(argument: $0) })
    }

    /// Adds a rule, and prints its name.
    func add(_ pairs: [String], at path: String) async throws {
        let body = try FaultPairs(pairs).body
        let client = try client()
        let data = try await client.data("POST", path, Data(body.bytes))
        if json { return print(String(decoding: data, as: UTF8.self)) }
        let added: ListedFault = try client.read(data)
        print("added: \(added.id)")
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

/// Rule in the server's list.
struct ListedFault: Decodable {
    let id: String
    let isOn: Bool
    let matched: Int
    let applied: Int
}

struct AddFault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a rule behind the others.")

    @OptionGroup var options: FaultOptions

    @Argument(help: "Pairs such as operation=commitTransaction status=503.")
    var pairs: [String]

    func validate() throws { _ = try FaultPairs(pairs) }

    func run() async throws { try await options.add(pairs, at: "faults") }
}

struct AddNextFault: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Add a rule that applies once, or as often as times=N says.")

    @OptionGroup var options: FaultOptions

    @Argument(help: "Pairs such as operation=commitTransaction status=503.")
    var pairs: [String]

    func validate() throws { _ = try FaultPairs(pairs) }

    func run() async throws { try await options.add(pairs, at: "faults/next") }
}

struct ListFaults: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the rules, and how often each was applied.")

    @OptionGroup var options: FaultOptions

    private struct List: Decodable {
        let faults: [ListedFault]
    }

    func run() async throws {
        let client = try options.client()
        let data = try await client.data("GET", "faults")
        if options.json { return print(String(decoding: data, as: UTF8.self)) }
        let list: List = try client.read(data)
        let rules = try JSONDecoder().decode(JSONValue.self, from: data)["faults"]?.items ?? []
        guard !list.faults.isEmpty else { return print("no fault rules") }
        for (fault, rule) in zip(list.faults, rules) {
            let state = fault.isOn ? "" : "  off"
            print("\(fault.id)  \(rule.pairs)  matched \(fault.matched)  applied \(fault.applied)\(state)")
        }
    }
}

struct ClearFaults: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Remove a rule, or all of them.")

    @OptionGroup var options: FaultOptions

    @Argument(help: "The rule's name; by default all rules.")
    var id: String?

    func run() async throws {
        let path = try id.map { id in
            guard let escaped = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else {
                throw ValidationError("'\(id)' is not the name of a rule")
            }
            return "faults/\(escaped)"
        }
        _ = try await options.client().data("DELETE", path ?? "faults")
        print(options.json ? "{}" : "removed: \(id ?? "all fault rules")")
    }
}

extension JSONValue {
    fileprivate var items: [JSONValue]? {
        guard case .array(let items) = self else { return nil }
        return items
    }

    /// Conditions and effect of a rule, as `add` takes them.
    fileprivate var pairs: String {
        guard case .object(let members) = self else { return "" }
        let counts = ["id", "is_on", "matched", "applied"]
        return members.filter { !counts.contains($0.key) }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value.scalarText ?? "…")" }.joined(separator: " ")
    }
}
