package import Basics
import Foundation
package import NIOPosix

/// Temporary files, deleted after use because they contain speech.
package struct TemporaryFiles: Sendable {
    private let folder: String
    private let identifiers: IdentifierSource
    private let files: NIOThreadPool

    /// Creates temporary files in a folder.
    /// - Parameters:
    ///   - folder: existing folder, emptied at server start.
    ///   - identifiers: source of unguessable names, which no recording can refer to.
    package init(folder: String, identifiers: IdentifierSource, files: NIOThreadPool) {
        self.folder = folder
        self.identifiers = identifiers
        self.files = files
    }

    /// Provides a path in a private folder with an unguessable name; the folder is removed afterwards.
    func use<Value: Sendable>(
        extension name: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        let own = "\(folder)/\(identifiers.uuid())"
        let path = "\(own)/audio.\(name)"
        try await files.runIfActive {
            try FileManager.default.createDirectory(
                atPath: own, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        let result = await outcome { try await body(path) }
        // A cancelled task, for example after its time limit, gets no thread any more.
        try? await shieldFromCancellation { [files] in
            try await files.runIfActive { try FileManager.default.removeItem(atPath: own) }
        }
        return try result.get()
    }
}
