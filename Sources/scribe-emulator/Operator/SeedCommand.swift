import ArgumentParser
import Basics
import Foundation
import ScribeDomain
import ScribeServer

struct SeedCommand: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed",
        abstract: "Add clients, clinicians, templates and finished visits to a running server.",
        discussion: "The file is YAML or JSON, with the members of the body of POST /__admin/seed.")

    @OptionGroup var options: OperatorOptions<WorldData>

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
        if let namespace = options.namespace { _ = try NamespaceName(argument: namespace) }
    }

    func call() throws -> OperatorCall {
        .init("POST", "seed", try Self.json(in: content(), from: file)) { (seeded: Seeded) in
            let lines =
                seeded.clients.map { "client  \($0)" } + seeded.users.map { "user  \($0)" }
                + seeded.templates.map { "template  \($0)" }
                + seeded.consultations.map { "consultation  \($0.txnId)  \($0.status)" }
            return lines.isEmpty ? nil : lines.joined(separator: "\n")
        }
    }

    private func content() throws -> Data {
        if file == "-" { return try Invocation.current.readInput() }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw ExitCode.explained("\(file) cannot be read")
        }
        return data
    }

    /// Translates YAML to JSON.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    private static func json(in data: Data, from path: String) throws -> JSON {
        do {
            let value = try YAMLText.json(of: data)
            return value == .null ? [:] : .value(value)
        } catch {
            throw ExitCode.explained("\(path) is not YAML: \(error)")
        }
    }
}
