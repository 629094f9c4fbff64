import ArgumentParser
import Basics
import Foundation
import ScribeDomain
import ScribeRuntime

struct SnapshotCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Save, restore, export and import the state of a running server or of a namespace.",
        discussion: """
            A snapshot holds rows and audio. It holds no clients, webhooks, tokens or secrets: after a restore the \
            clients are those of the server. Saved snapshots stay over a reset.
            """,
        subcommands: [
            SaveSnapshot.self, RestoreSnapshot.self, ListSnapshots.self, DeleteSnapshot.self, ExportSnapshot.self,
            ImportSnapshot.self,
        ]
    )
}

/// Snapshot in an answer of the server.
private struct SavedSnapshot: Decodable {
    let name: String
    let createdAt: String
    let objects: Int
    let size: Int

    var line: String { [name, createdAt, objects.counted("upload"), "\(size) bytes"].joined(separator: "  ") }
}

extension SnapshotName {
    /// Reads a name from the command line.
    /// - Throws: `ValidationError` for a text that is no name.
    fileprivate init(argument: String) throws {
        guard let name = Self(argument) else {
            throw ValidationError(
                "'\(argument)' is not the name of a snapshot; write 1 to 64 letters, digits, '.', '_' and '-'")
        }
        self = name
    }
}

struct SaveSnapshot: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "save", abstract: "Save the state under a name, in place of an earlier snapshot of that name.")

    @OptionGroup var options: OperatorOptions<WorldData>
    @Argument(help: "The name of the snapshot.") var name: String

    func validate() throws { _ = try SnapshotName(argument: name) }

    func call() -> OperatorCall { .init("PUT", "snapshots/\(name)") { (new: SavedSnapshot) in "saved: \(new.line)" } }
}

struct RestoreSnapshot: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace the state by a snapshot. A server with a data folder allows that only with --allow-reset.",
        aliases: ["load"])

    @OptionGroup var options: OperatorOptions<WorldData>
    @Argument(help: "The name of the snapshot.") var name: String

    func validate() throws { _ = try SnapshotName(argument: name) }

    func call() -> OperatorCall {
        .init("POST", "snapshots/\(name)/restore") { (restored: RestoredWorld) in
            "restored: \(name)  namespace \(restored.namespace)  state \(restored.state)"
        }
    }
}

struct ListSnapshots: NamespacedCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Print the snapshots.")

    @OptionGroup var options: OperatorOptions<WorldData>

    private struct List: Decodable {
        let snapshots: [SavedSnapshot]
    }

    func call() -> OperatorCall {
        .init("GET", "snapshots") { (list: List) in
            list.snapshots.isEmpty ? "no snapshots" : list.snapshots.map(\.line).joined(separator: "\n")
        }
    }
}

struct DeleteSnapshot: NamespacedCommand {
    static let configuration = CommandConfiguration(commandName: "delete", abstract: "Delete a snapshot.")

    @OptionGroup var options: OperatorOptions<WorldData>
    @Argument(help: "The name of the snapshot.") var name: String

    func validate() throws { _ = try SnapshotName(argument: name) }

    func call() -> OperatorCall {
        .init(done: "deleted: \(name)") { _ = try await $0.data("DELETE", "snapshots/\(name)") }
    }
}

struct ExportSnapshot: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a snapshot to a file. Without --name the present state is saved and exported.",
        discussion: "The file may hold what patients have said; only its owner can read it.")

    @OptionGroup var options: OperatorOptions<WorldData>

    @Option(help: "The name of a saved snapshot.") var name: String?

    @Argument(
        help: ArgumentHelp("The file to write, which must not exist; - for standard output.", valueName: "file"),
        transform: Setting.path)
    var file: String

    func validate() throws { if let name { _ = try SnapshotName(argument: name) } }

    private struct Exported: Decodable {
        let size: Int
    }

    func call() -> OperatorCall {
        .init { server in
            let size = try await Self.write(file, of: name, from: server)
            let answer: JSON = ["file": .string(file), "size": .integer(size)]
            // The archive is all that a reader may get.
            return file == "-" ? nil : Data(answer.bytes)
        } text: { (exported: Exported) in
            "exported: \(file)  \(exported.size) bytes"
        }
    }

    /// Exports a snapshot, or the present state under a temporary name.
    /// - Returns: The size of the file in bytes; 0 for standard output.
    static func write(_ file: String, of name: String?, from client: ControlClient) async throws -> Int {
        guard file == "-" || !FileManager.default.fileExists(atPath: file) else {
            throw ExitCode.explained("\(file) exists; name another file, or remove it")
        }
        // A reader of the output that leaves must not end this process before the temporary snapshot is deleted.
        if file == "-" { signal(SIGPIPE, SIG_IGN) }
        let temporary = "export-\(IdentifierSource.random.uuid())"
        if name == nil { _ = try await client.data("PUT", "snapshots/\(temporary)") }
        let result: Result<Void, any Error> = await outcome {
            // Renamed when it is whole, so that a cut-off export leaves no file of that name.
            let target = file == "-" ? file : "\(file).partial"
            try await client.download("snapshots/\(name ?? temporary)/content", to: target)
            guard file == "-" || rename(target, file) == 0 else { throw ExitCode.failure }
        }
        if case .failure = result { unlink("\(file).partial") }
        if name == nil { _ = try? await client.answer("DELETE", "snapshots/\(temporary)") }
        try result.get()
        return file == "-" ? 0 : try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
    }
}

struct ImportSnapshot: NamespacedCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Read a snapshot from an exported file. Restore it with snapshot restore.")

    @OptionGroup var options: OperatorOptions<WorldData>
    @Argument(help: "The name that the snapshot gets.") var name: String

    @Argument(help: ArgumentHelp("A file that snapshot export wrote.", valueName: "file"), transform: Setting.path)
    var file: String

    func validate() throws { _ = try SnapshotName(argument: name) }

    func call() -> OperatorCall {
        .init({ try await $0.upload(file, as: "application/octet-stream", "snapshots/\(name)/content") }) {
            (saved: SavedSnapshot) in "imported: \(saved.line)"
        }
    }
}
