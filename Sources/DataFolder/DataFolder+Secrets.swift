import NIOPosix
import ScribeDomain

/// Keeps secrets in files of the folder, which only their owner can read.
extension DataFolder: SecretStore {
    /// Reads the secret in the file `name`, or makes it from `fresh` on first use.
    /// - Throws: ``Problem``, and errors of `fresh`.
    package func secret(named name: String, fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8] {
        try await NIOThreadPool.singleton.runIfActive { [self] in try keptSecret(named: name, fresh: fresh) }
    }
}
