import ArgumentParser
import Basics
import DataFolder
import Foundation
import ScribeRuntime
import ScribeServer
import ScribeStore

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write all data to one file. The server may run meanwhile."
    )

    @OptionGroup var data: DataOptions

    @Argument(
        help: ArgumentHelp(
            "The file to write. It will hold patients' data and the signing key: keep it safe.", valueName: "file"),
        transform: Setting.path)
    var file: String

    func run() throws {
        let folder = try data.folder(ofRowsInMemory: false)
        let summary = try explained {
            try Backup.write(
                folder: folder, to: file, name: IdentifierSource.random.uuid(), secrets: FamilySecrets.names)
        }
        print("\(file): the database and \(summary.objects.counted("upload"))")
    }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a backup into a data folder that is empty or new. Stop the server first."
    )

    @OptionGroup var data: DataOptions

    @Argument(
        help: ArgumentHelp("A file that scribe-emulator backup wrote.", valueName: "file"), transform: Setting.path)
    var file: String

    func run() throws {
        let path = try data.folder()
        let summary = try explained {
            let folder = try DataFolder(
                path: path, tolerating: Configuration().namesBeforeFirstStart, mustBeEmpty: true)
            return try withExtendedLifetime(folder) {
                try Backup.restore(file, into: folder, secrets: FamilySecrets.names)
            }
        }
        print("\(path): the database and \(summary.objects.counted("upload"))")
    }
}

/// Flags that select the data folder of `backup` and `restore`.
struct DataOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The server's data folder; by default that of the settings.", valueName: "path"),
        transform: Setting.path)
    var dataDir: String?

    @Option(help: "The YAML file with the server's settings.", transform: Setting.path)
    var config: String?

    /// The path of the data folder: `--data-dir`, else `data-dir` of the settings that `serve` would use here.
    /// - Parameter ofRowsInMemory: whether settings of a server that keeps its rows in memory are allowed.
    func folder(ofRowsInMemory: Bool = true) throws -> String {
        if let dataDir { return dataDir }
        let configuration = try Settings.found(flags: [:], configFile: config).configuration
        guard ofRowsInMemory || !configuration.isEphemeral else {
            throw ExitCode.explained(
                """
                a server with ephemeral keeps its rows in memory; \
                run scribe-emulator snapshot export to write them to a file
                """)
        }
        return configuration.dataFolder
    }
}

private func explained<Value>(_ work: () throws -> Value) throws -> Value {
    do {
        return try work()
    } catch {
        throw ExitCode.explained("\(error)")
    }
}
