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

    @OptionGroup var target: TargetOptions

    @Option(help: ArgumentHelp("The server's data folder.", valueName: "path"))
    var dataDir: String?

    @Argument(help: ArgumentHelp("The file to write. It holds patients' data and the signing key.", valueName: "file"))
    var file: String

    func run() throws {
        let folder = try dataDir ?? target.configuration().configuration.dataFolder
        let summary = try explained {
            try Backup.write(folder: folder, to: file, name: IdentifierSource.random.uuid())
        }
        print("\(file): the database and \(summary.objects) uploads")
    }
}

struct RestoreVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a backup into a folder without data; the server must not be running."
    )

    @OptionGroup var target: TargetOptions

    @Option(help: ArgumentHelp("The data folder to restore into.", valueName: "path"))
    var dataDir: String?

    @Argument(help: ArgumentHelp("A file that backup has written.", valueName: "file"))
    var file: String

    func run() throws {
        let path = try dataDir ?? target.configuration().configuration.dataFolder
        let summary = try explained {
            let folder = try DataFolder(path: path)
            return try withExtendedLifetime(folder) { try Backup.restore(file, into: path) }
        }
        print("\(path): the database and \(summary.objects) uploads")
    }
}

private func explained<Value>(_ work: () throws -> Value) throws -> Value {
    do {
        return try work()
    } catch {
        FileHandle.standardError.write(Data("scribe-emulator: \(error)\n".utf8))
        throw ExitCode.failure
    }
}
