import Basics
package import Foundation
import ScribeStore

extension DataFolder {
    /// Requires that other users cannot read the keys that are in the folder. Blocking.
    /// - Parameter others: file names of the families' keys.
    /// - Returns: the paths of keys that the group can read, as in a volume that Kubernetes mounts with `fsGroup`.
    /// - Throws: ``Problem/readableByOthers(file:)``, ``Problem/unreadable(file:)``.
    package func requirePrivateKeys(and others: [String]) throws -> [String] {
        var ofGroup: [String] = []
        for name in [Self.signingKey, Self.adminToken] + others {
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
        let file = "\(path)/\(Self.signingKey)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return }
        if try SQLiteFile.holdsRefreshTokens(in: databasePath, at: now) {
            throw Problem.missingSigningKey(file: file)
        }
    }
}
