/// Keys and tokens of the server itself, by name. They are beside the data: no reset or restore touches them, and no copy
/// of a state holds them.
package protocol SecretStore: Sendable {
    /// Returns the secret of that name. The first call makes it from `fresh` and keeps it.
    /// - Parameter name: for example `signing-key`.
    /// - Throws: what the store says, and what `fresh` throws.
    func secret(named name: String, fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8]
}
