import ArgumentParser
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeServer
import ScribeStore

struct BackupVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write everything to one file, while the server runs or not."
    )

    @OptionGroup var data: DataOptions

    @Argument(help: ArgumentHelp("The file to write. It holds patients' data and the signing key.", valueName: "file"))
    var file: String

    func run() throws {
        let folder = try data.folder()
        let summary = try explained {
            try Backup.write(
                folder: folder, to: file, name: IdentifierSource.random.uuid(), secrets: FamilySecrets.names)
        }
        print("\(file): the database and \(summary.objects) uploads")
    }
}

struct RestoreVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a backup into a folder without data; the server must not be running."
    )

    @OptionGroup var data: DataOptions

    @Argument(help: ArgumentHelp("A file that backup has written.", valueName: "file"))
    var file: String

    func run() throws {
        let path = try data.folder()
        let summary = try explained {
            let folder = try DataFolder(path: path, mustBeEmpty: true)
            return try withExtendedLifetime(folder) {
                try Backup.restore(file, into: folder, secrets: FamilySecrets.names)
            }
        }
        print("\(path): the database and \(summary.objects) uploads")
    }
}

/// Which data a verb is about.
struct DataOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server's data folder.", valueName: "path"))
    var dataDir: String?

    @Option(help: "The YAML file that the server was started with.")
    var config: String?

    /// From the flag, else from the settings that a server would be started with here.
    func folder() throws -> String {
        try dataDir ?? Settings.found(flags: [:], configFile: config).configuration.dataFolder
    }
}

private func explained<Value>(_ work: () throws -> Value) throws -> Value {
    do {
        return try work()
    } catch {
        StandardError.write("scribe-emulator: \(error)")
        throw ExitCode.failure
    }
}
