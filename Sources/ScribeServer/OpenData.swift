import Crypto
import Foundation
import Logging
import NIOPosix
import ScribeDomain
import ScribeRuntime
import ScribeStore
import Suki

/// The data folder, and what is in it beside the database.
struct OpenData: Sendable {
    let folder: DataFolder
    let reserve: StorageReserve
    let objects: ObjectFiles
    let key: SymmetricKey
    let threads: NIOThreadPool
    private let identifiers: IdentifierSource

    /// - Throws: ``StartupProblem``, `DataFolder.Problem`, `Store.Problem`.
    init(_ configuration: Configuration, _ parts: Backend.Parts) async throws {
        let threads = NIOThreadPool.singleton
        let now = parts.clock.now
        let (folder, keysOfGroup) = try await threads.runIfActive {
            let folder = try DataFolder(path: configuration.dataFolder)
            let keysOfGroup = try folder.requirePrivateKeys()
            if configuration.signingKey == nil, !configuration.allowsNewSigningKey {
                try folder.requireSigningKey(at: now)
            }
            return (folder, keysOfGroup)
        }
        for file in keysOfGroup {
            parts.logger.warning("\(file) is a key, and its group can read it")
        }
        self.folder = folder
        self.threads = threads
        identifiers = parts.identifiers
        reserve = try await threads.runIfActive { StorageReserve(path: folder.reservePath, pool: threads) }
        objects = ObjectFiles(
            folder: folder.objectsFolder, durability: configuration.durability, identifiers: identifiers,
            pool: threads)
        if let key = configuration.signingKey {
            guard key.count >= 32 else { throw StartupProblem.signingKeyTooShort }
            self.key = SymmetricKey(data: key)
        } else {
            let key = try await threads.runIfActive { [identifiers] in
                try folder.secret(named: DataFolder.signingKey) { identifiers.bytes(32) }
            }
            self.key = SymmetricKey(data: key)
        }
    }

    /// - Throws: `Store.Problem`, or what SQLite says.
    func store(
        _ configuration: Configuration, transcribesOnArrival: Bool, _ changes: ChangeHub
    ) async throws -> Store {
        try await threads.runIfActive { [folder] in
            try Store(
                path: folder.databasePath, durability: configuration.durability,
                transcribesOnArrival: transcribesOnArrival, quotas: configuration.quotas,
                sessionLifetime: configuration.sessionLifetime / .seconds(1),
                ambientLifetime: configuration.suki.lifetime / .seconds(1), sink: changes)
        }
    }

    /// The private key with which ambient sessions' tokens are signed, as PEM; made when it is first needed.
    var ambientKey: @Sendable (_ fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8] {
        { [folder, threads] fresh in
            try await threads.runIfActive { try folder.secret(named: DataFolder.ambientKey, fresh: fresh) }
        }
    }

    /// What operators have to show; nil while only this machine reaches the server and nobody has set one.
    func adminToken(_ configuration: Configuration) async throws -> String? {
        if let token = configuration.adminToken { return token }
        guard !configuration.isLoopback else { return nil }
        let token = try await threads.runIfActive { [folder, identifiers] in
            try folder.secret(named: DataFolder.adminToken) { Array(Hex.encode(identifiers.bytes(32)).utf8) }
        }
        return String(decoding: token, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
