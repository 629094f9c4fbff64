/// Store for the server's own keys and tokens, by name. The secrets are stored beside the data: no reset or restore
/// touches them, and no copy of a state holds them.
package protocol SecretStore: Sendable {
    /// Returns the secret of that name. The first call makes it from `fresh` and keeps it.
    /// - Parameter name: for example `signing-key`.
    /// - Throws: the store's error, or the error of `fresh`.
    func secret(named name: String, fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8]
}
