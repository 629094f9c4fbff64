package import NIOPosix
import ScribeDomain

/// Secret store in files of the data folder, which only their owner can read.
package struct FolderSecrets: SecretStore {
    private let folder: DataFolder
    private let threads: NIOThreadPool

    package init(folder: DataFolder, threads: NIOThreadPool) {
        self.folder = folder
        self.threads = threads
    }

    /// Reads the secret in the file `name`, or makes it from `fresh` on first use.
    /// - Throws: ``DataFolder/Problem``, and errors of `fresh`.
    package func secret(
        named name: String, fresh: @escaping @Sendable () throws -> [UInt8]
    ) async throws -> [UInt8] {
        try await threads.runIfActive { [folder] in try folder.secret(named: name, fresh: fresh) }
    }
}
