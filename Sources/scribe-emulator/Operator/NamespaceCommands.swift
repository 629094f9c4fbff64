import ArgumentParser
import Basics
import ScribeDomain

struct NamespaceCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ns",
        abstract: "Create, list and delete namespaces of a running server: throw-away worlds for tests.",
        subcommands: [CreateNamespace.self, ListNamespaces.self, DeleteNamespace.self]
    )
}

/// Answer to the creation of a namespace. No later answer has the secrets.
struct CreatedNamespace: Decodable {
    let name: String
    let url: String
    let clientId: String
    let clientSecret: String
    let apiKey: String
    let apiKeyHex: String

    var lines: [String] {
        [
            "name           \(name)", "base URL       \(url)", "client id      \(clientId)",
            "client secret  \(clientSecret)", "API key        \(apiKey)",
            "API key in hex \(apiKeyHex)",
        ]
    }
}

/// Namespace in the server's list.
struct ListedNamespace: Decodable {
    let name: String
    let url: String
    let clientId: String
    let createdAt: String
    let lastUsedAt: String
    let state: Int

    var line: String {
        [name, url, clientId, "created \(createdAt)", "used \(lastUsedAt)", "state \(state)"].joined(separator: "  ")
    }
}

struct CreateNamespace: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a namespace, and print its base URL and the credentials of its client.")

    @OptionGroup var control: ControlOptions

    @Argument(help: "1 to 63 of a-z, 0-9 and -; by default the server chooses a name.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Make identifiers from this text, the same in each run; by default the server's own, if it has one.",
            valueName: "text"))
    var seedValue: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let name { _ = try NamespaceName(argument: name) }
        if let seedValue, SeedValue(seedValue) == nil {
            throw ValidationError("'\(seedValue)' is no seed value; write \(SeedValue.rule)")
        }
    }

    func call() -> OperatorCall {
        let body: JSON = ["name": name.map(JSON.string), "seed_value": seedValue.map(JSON.string)]
        return .init("POST", "namespaces", body) { (new: CreatedNamespace) in new.lines.joined(separator: "\n") }
    }
}

struct ListNamespaces: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print the namespaces, without secrets.")

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print JSON.")
    var json = false

    private struct List: Decodable {
        let namespaces: [ListedNamespace]
    }

    func call() -> OperatorCall {
        .init("GET", "namespaces") { (list: List) in
            list.namespaces.isEmpty ? "no namespaces" : list.namespaces.map(\.line).joined(separator: "\n")
        }
    }
}

struct DeleteNamespace: ServerCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a namespace with its data. Its sockets close.")

    @OptionGroup var control: ControlOptions

    @Argument(help: "The name, as list prints it.")
    var name: String

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws { _ = try NamespaceName(argument: name) }

    func call() -> OperatorCall {
        .init(done: "deleted: \(name)") { _ = try await $0.data("DELETE", "namespaces/\(name)") }
    }
}

/// World after a reset or a restore.
struct RestoredWorld: Decodable {
    let namespace: String
    let state: Int
}

struct ResetCommand: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Delete the data of a namespace. Its name, its clients and their access tokens stay.",
        discussion: """
            Without --namespace the server's own data are deleted. A server with a data folder allows that only with \
            --allow-reset.
            """)

    enum Scope: NamespaceScope { static let help = "The namespace to reset." }

    @OptionGroup var options: OperatorOptions<Scope>

    func validate() throws {
        if let namespace = options.namespace { _ = try NamespaceName(argument: namespace) }
    }

    func call() -> OperatorCall {
        .init("POST", "reset") { (reset: RestoredWorld) in "reset: \(reset.namespace)  state \(reset.state)" }
    }
}

extension NamespaceName {
    /// Reads a name from the command line.
    /// - Throws: `ValidationError` for a text that is no name.
    init(argument: String) throws {
        guard argument != Self.ofDefaultWorld else {
            throw ValidationError("'\(argument)' is the name of the data folder's world; choose another name")
        }
        guard let name = Self(argument) else {
            throw ValidationError("'\(argument)' is not the name of a namespace; write 1 to 63 of a-z, 0-9 and -")
        }
        self = name
    }
}
