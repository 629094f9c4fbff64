import Basics
package import NIOPosix
import ScribeDomain

/// Secret store in memory, which ends with the process.
package final class MemorySecrets: SecretStore {
    private let secrets = LockedValue<[String: [UInt8]]>([:])
    private let threads: NIOThreadPool

    /// Makes an empty secret store.
    /// - Parameter threads: threads that make the secrets, which may take long.
    package init(threads: NIOThreadPool) { self.threads = threads }

    package func secret(
        named name: String, fresh: @escaping @Sendable () throws -> [UInt8]
    ) async throws -> [UInt8] {
        if let known = secrets.withLock({ $0[name] }) { return known }
        let made = try await threads.runIfActive(fresh)
        return secrets.withLock { secrets in
            if let known = secrets[name] { return known }
            secrets[name] = made
            return made
        }
    }
}
