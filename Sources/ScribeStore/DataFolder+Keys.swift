package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension DataFolder {
    /// Requirements on a data folder before it is opened, and the log for its notes.
    package struct Opening: Sendable {
        /// File names of the families' keys. Nil skips the check of the keys.
        var secrets: [String]?
        /// Time at which logins of the database must still be verifiable. Nil does not require the signing key.
        var signingKeyAt: Date?
        /// Whether other processes may use the folder at the same time. Their files are not removed then.
        var isShared: Bool
        /// Writes a line to the log.
        var note: @Sendable (String) -> Void

        package init(
            secrets: [String]? = nil, signingKeyAt: Date? = nil, isShared: Bool = false,
            note: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.secrets = secrets
            self.signingKeyAt = signingKeyAt
            self.isShared = isShared
            self.note = note
        }

        /// Checks the keys before the data of an earlier version are moved, because the move cannot be undone.
        func requireKeys(in path: String, database: String) throws {
            if let secrets { _ = try DataFolder.privateKeys(in: path, and: secrets) }
            if let signingKeyAt {
                try DataFolder.requireSigningKey(in: path, database: database, at: signingKeyAt)
            }
        }
    }

    /// Requires that other users cannot read the keys that are in the folder. Blocking.
    /// - Parameter others: file names of the families' keys.
    /// - Returns: the paths of keys that the group can read, as in a volume that Kubernetes mounts with `fsGroup`.
    /// - Throws: ``Problem/readableByOthers(file:)``, ``Problem/unreadable(file:)``.
    package func requirePrivateKeys(and others: [String]) throws -> [String] {
        try Self.privateKeys(in: path, and: others)
    }

    private static func privateKeys(in path: String, and others: [String]) throws -> [String] {
        var ofGroup: [String] = []
        for name in [signingKey, adminToken] + others {
            let file = "\(path)/\(name)"
            // `stat` follows links: a container mounts its secrets as links.
            var info = stat()
            guard stat(file, &info) == 0 else { continue }
            guard info.st_mode & 0o007 == 0 else { throw Problem.readableByOthers(file: file) }
            guard FileManager.default.isReadableFile(atPath: file) else { throw Problem.unreadable(file: file) }
            if info.st_mode & 0o070 != 0 { ofGroup.append(file) }
        }
        return ofGroup
    }

    /// Requires the signing key if the database has logins that it signed. Blocking.
    /// - Throws: ``Problem/missingSigningKey(file:)``, `Store.Problem`, or SQLite's error.
    package func requireSigningKey(at now: Date) throws {
        try Self.requireSigningKey(in: path, database: databasePath, at: now)
    }

    private static func requireSigningKey(in path: String, database: String, at now: Date) throws {
        let file = "\(path)/\(signingKey)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return }
        if try SQLiteFile.holdsRefreshTokens(in: database, at: now) { throw Problem.missingSigningKey(file: file) }
    }
}
