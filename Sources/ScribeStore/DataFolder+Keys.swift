package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension DataFolder {
    /// What a caller requires of a data folder, and how it hears of what takes time or cannot be undone.
    package struct Opening: Sendable {
        /// The names of the families' key files. Nil where keys are not checked.
        var secrets: [String]?
        /// Requires the signing key where the database has logins that are good at this time.
        var signingKeyAt: Date?
        /// Whether other processes may have the folder at the same time: nothing of theirs is removed then.
        var isShared: Bool
        /// Takes a line for the log.
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

        /// Requires the keys beside a database that is about to be moved: the move cannot be undone.
        func requireKeys(in path: String, database: String) throws {
            if let secrets { _ = try DataFolder.privateKeys(in: path, and: secrets) }
            if let signingKeyAt {
                try DataFolder.requireSigningKey(in: path, database: database, at: signingKeyAt)
            }
        }
    }

    /// Requires that other users cannot read the keys that are in the folder. Blocking.
    /// - Parameter others: names of files with the keys of families.
    /// - Returns: the keys that the group can read, as in a volume that Kubernetes mounts with `fsGroup`.
    /// - Throws: ``Problem/readableByOthers(file:)``, ``Problem/unreadable(file:)``.
    package func requirePrivateKeys(and others: [String]) throws -> [String] {
        try Self.privateKeys(in: path, and: others)
    }

    private static func privateKeys(in path: String, and others: [String]) throws -> [String] {
        var ofGroup: [String] = []
        for name in [signingKey, adminToken] + others {
            let file = "\(path)/\(name)"
            // Of what a link leads to: a container mounts its secrets as links.
            var info = stat()
            guard stat(file, &info) == 0 else { continue }
            guard info.st_mode & 0o007 == 0 else { throw Problem.readableByOthers(file: file) }
            guard FileManager.default.isReadableFile(atPath: file) else { throw Problem.unreadable(file: file) }
            if info.st_mode & 0o070 != 0 { ofGroup.append(file) }
        }
        return ofGroup
    }

    /// Requires the signing key where the database has logins that were signed with it. Blocking.
    /// - Throws: ``Problem/missingSigningKey(file:)``, `Store.Problem`, or what SQLite says.
    package func requireSigningKey(at now: Date) throws {
        try Self.requireSigningKey(in: path, database: databasePath, at: now)
    }

    private static func requireSigningKey(in path: String, database: String, at now: Date) throws {
        let file = "\(path)/\(signingKey)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return }
        if try SQLiteFile.holdsRefreshTokens(in: database, at: now) { throw Problem.missingSigningKey(file: file) }
    }
}
