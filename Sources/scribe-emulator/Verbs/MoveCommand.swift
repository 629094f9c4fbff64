import ArgumentParser
import DataFolder
import Foundation
import NIOPosix
import ObjectStorage
import ScribeRuntime
import ScribeServer
import ScribeStore

struct MoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move the data of a folder to PostgreSQL and S3. Stop the server first.",
        discussion: "The folder gets the ending .moved. A move that was interrupted can be done again."
    )

    @Option(help: ArgumentHelp("The data folder to move.", valueName: "path"), transform: Setting.path)
    var from: String

    @Option(
        help: ArgumentHelp("The database, as in --database of serve. Its schema must hold no data.", valueName: "url"))
    var database: String

    @Option(
        help: ArgumentHelp(
            "The bucket, as in --objects of serve; its keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
            valueName: "url"))
    var objects: String

    func run() async throws {
        guard let address = PostgreSQLAddress(database) else {
            throw ValidationError("--database is no database; write postgres://USER:PASSWORD@HOST/DATABASE")
        }
        guard let bucket = S3Address(objects) else {
            throw ValidationError("--objects is no bucket; write s3://BUCKET?endpoint=https://HOST&region=REGION")
        }
        guard let credentials = S3Address.Credentials(environment: Invocation.current.environment) else {
            throw ValidationError("--objects needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
        }
        guard FileManager.default.fileExists(atPath: "\(from)/current") else {
            throw ValidationError("\(from) holds no data of a server")
        }
        let moved = "\(URL(fileURLWithPath: from).path).moved"
        guard !FileManager.default.fileExists(atPath: moved) else {
            throw ValidationError("\(moved) exists, and the folder is to get that name; rename it")
        }
        do {
            let summary = try await move(to: address, bucket, credentials)
            try FileManager.default.moveItem(atPath: URL(fileURLWithPath: from).path, toPath: moved)
            print("\(summary.rows) rows and \(summary.objects) uploads were moved; the folder is \(moved) now")
        } catch {
            throw ExitCode.explained("\(error)")
        }
    }

    private func move(
        to address: PostgreSQLAddress, _ bucket: S3Address, _ credentials: S3Address.Credentials
    ) async throws -> FolderMove.Summary {
        let threads = NIOThreadPool.singleton
        let folder = try await threads.runIfActive { try DataFolder(path: from) }
        let objects = S3Objects(
            bucket, credentials, folder: "\(folder.workFolder)/spool", identifiers: .random, clock: .system,
            pool: threads)
        let move = try await threads.runIfActive {
            let uploads = ObjectFiles(
                folder: folder.objectsFolder, durability: .normal, identifiers: .random, pool: threads,
                isBackedUp: false)
            return try FolderMove(from: folder.databasePath, uploads, to: address, objects)
        }
        let secrets = try await threads.runIfActive { folder.secrets(FamilySecrets.names) }
        let summary = try await move.run(secrets: secrets, on: threads)
        folder.release()
        return summary
    }
}
