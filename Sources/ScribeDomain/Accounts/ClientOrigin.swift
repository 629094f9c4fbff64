/// Origin of a registered client. Each origin changes its own clients only.
package enum ClientOrigin: String, Hashable, Sendable, CaseIterable {
    /// The clients file, and the client of a namespace.
    case file
    case demo
    /// The operator API.
    case api
}
