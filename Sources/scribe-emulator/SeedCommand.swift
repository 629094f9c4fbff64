import ArgumentParser
import Foundation
import ScribeDomain
import ScribeServer
import Yams

struct SeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed",
        abstract: "Add clients, clinicians, templates and finished visits to a running server.",
        discussion: "The file is YAML or JSON, with the members of the body of POST /__admin/seed.")

    @OptionGroup var control: ControlOptions

    @Option(help: ArgumentHelp("The namespace; by default the server's own data.", valueName: "name"))
    var namespace: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(
        help: ArgumentHelp("A YAML or JSON file; - for standard input.", valueName: "file"), transform: Setting.path)
    var file: String

    private struct Seeded: Decodable {
        struct Visit: Decodable {
            let txnId: String
            let status: String
        }

        let clients: [String]
        let users: [String]
        let templates: [String]
        let consultations: [Visit]
    }

    func validate() throws {
        if let namespace { _ = try NamespaceName(argument: namespace) }
    }

    func run() async throws {
        let client = try control.client(in: namespace.map { try NamespaceName(argument: $0) })
        let body = try Self.json(in: try content(), from: file)
        let data = try await client.data("POST", "seed", body)
        if json { return print(String(decoding: data, as: UTF8.self)) }
        let seeded: Seeded = try client.read(data)
        for (what, names) in [("client", seeded.clients), ("user", seeded.users), ("template", seeded.templates)] {
            for name in names { print("\(what)  \(name)") }
        }
        for visit in seeded.consultations { print("consultation  \(visit.txnId)  \(visit.status)") }
    }

    private func content() throws -> Data {
        if file == "-" { return try Invocation.current.readInput() }
        guard let data = FileManager.default.contents(atPath: file) else {
            StandardError.write("scribe-emulator: \(file) cannot be read")
            throw ExitCode.failure
        }
        return data
    }

    /// Translates YAML to JSON.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    private static func json(in data: Data, from path: String) throws -> Data {
        do {
            guard let node = try YAMLText.node(of: data) else { return Data("{}".utf8) }
            return Data(value(of: node).bytes)
        } catch {
            StandardError.write("scribe-emulator: \(path) is not YAML: \(error)")
            throw ExitCode.failure
        }
    }

    private static func value(of node: Node) -> JSON {
        switch node {
        case .mapping(let mapping): .object(mapping.map { ($0.key.string ?? "", value(of: $0.value)) })
        case .sequence(let sequence): .array(Array(sequence)) { value(of: $0) }
        case .alias, .scalar: scalar(node)
        }
    }

    /// A plain scalar as YAML resolves it; a quoted one is a text.
    private static func scalar(_ node: Node) -> JSON {
        guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else {
            return .string(node.string ?? "")
        }
        if let number = Int(scalar.string) { return .integer(number) }
        switch scalar.string {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null", "~", "": return .null
        case let text: return .string(text)
        }
    }
}
