/// Which of two authorities the answers follow where they differ (eka.md sections 9 and 10).
package enum Fidelity: String, Hashable, Sendable, CaseIterable {
    /// What the real client SDKs need.
    case clients
    /// What the vendor's documentation says, to see what a client makes of that (`--strict-docs`).
    case documentation
}
