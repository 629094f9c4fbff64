import ArgumentParser
import Basics
import Foundation
import ScribeDomain

/// Command that sends one call to the operator API of a running server, and prints its answer.
protocol OperatorCommand: AsyncParsableCommand {
    var control: ControlOptions { get }
    /// Whether the answer is printed as the server sent it.
    var json: Bool { get }

    /// Makes the client for the server, and for the namespace, of the command line.
    func client() throws -> ControlClient

    func call() throws -> OperatorCall
}

extension OperatorCommand {
    func client() throws -> ControlClient { try control.client() }

    func run() async throws {
        let client = try client()
        if let output = try await call().output(client, json) { print(output) }
    }
}

/// Operator command about the whole server, whatever namespace the base URL leads to.
protocol ServerCommand: OperatorCommand {}

extension ServerCommand {
    func client() throws -> ControlClient { try control.client().ofServer }
}

/// Operator command with ``OperatorOptions``.
protocol NamespacedCommand: OperatorCommand {
    associatedtype Scope: NamespaceScope

    var options: OperatorOptions<Scope> { get }
}

extension NamespacedCommand {
    var control: ControlOptions { options.control }
    var json: Bool { options.json }

    func client() throws -> ControlClient { try options.client() }
}

/// Call of the operator API: its request, and the text for its answer.
struct OperatorCall {
    /// Sends the request.
    /// - Returns: The answer as JSON or as text; nil to print nothing.
    let output: (ControlClient, _ asJSON: Bool) async throws -> String?

    /// - Parameter send: returns the answer as JSON; nil to print nothing.
    init<Answer: Decodable>(
        _ send: @escaping (ControlClient) async throws -> Data?, text: @escaping (Answer) -> String?
    ) {
        output = { client, asJSON in
            guard let data = try await send(client) else { return nil }
            return asJSON ? String(decoding: data, as: UTF8.self) : text(try client.read(data))
        }
    }

    /// - Parameter path: the part behind `/__admin/`, with a query if there is one.
    init<Answer: Decodable>(
        _ method: String, _ path: String, _ body: JSON? = nil, text: @escaping (Answer) -> String?
    ) {
        self.init({ try await $0.data(method, path, body) }, text: text)
    }

    /// A call whose answer is not printed.
    /// - Parameter done: the text after the call; nil to print nothing.
    init(done: String?, _ send: @escaping (ControlClient) async throws -> Void) {
        output = { client, asJSON in
            try await send(client)
            return done.map { asJSON ? "{}" : $0 }
        }
    }
}

/// Flags of the commands that are about a namespace.
struct OperatorOptions<Scope: NamespaceScope>: ParsableArguments {
    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp(Scope.help, valueName: "name"))
    var namespace: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// - Throws: `ValidationError` if no server is named, or the namespace's name is none.
    func client() throws -> ControlClient { try control.client(in: namespace.map { try NamespaceName(argument: $0) }) }
}

/// Part of a world that commands are about.
protocol NamespaceScope {
    /// The help of `--namespace`.
    static var help: String { get }
}

enum WholeWorld: NamespaceScope { static let help = "The namespace; by default the server's own." }

enum WorldData: NamespaceScope { static let help = "The namespace; by default the server's own data." }

enum WorldClock: NamespaceScope { static let help = "The namespace; by default the server's own clock." }
