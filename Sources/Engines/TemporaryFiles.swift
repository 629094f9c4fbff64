import Foundation
package import NIOPosix
package import ScribeDomain

/// Files that live as long as their use. Speech is in them, so none stays behind.
package struct TemporaryFiles: Sendable {
    private let folder: String
    private let identifiers: IdentifierSource
    private let files: NIOThreadPool

    /// - Parameters:
    ///   - folder: an existing folder that is emptied when the server starts.
    ///   - identifiers: make names that no recording can hold.
    package init(folder: String, identifiers: IdentifierSource, files: NIOThreadPool) {
        self.folder = folder
        self.identifiers = identifiers
        self.files = files
    }

    /// Lends a path in a folder that nobody else has and nobody can guess; the folder is removed after that.
    func use<Value: Sendable>(
        extension name: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        let own = "\(folder)/\(identifiers.uuid())"
        let path = "\(own)/audio.\(name)"
        try await files.runIfActive {
            try FileManager.default.createDirectory(
                atPath: own, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(path))
        } catch {
            result = .failure(error)
        }
        // A task that was cancelled, by its time limit for example, gets no thread any more.
        try? await uncancelled { [files] in
            try await files.runIfActive { try FileManager.default.removeItem(atPath: own) }
        }
        return try result.get()
    }
}
