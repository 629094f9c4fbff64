/// Authority that answers follow where SDKs and documentation differ (eka.md section 9).
package enum Fidelity: String, Hashable, Sendable, CaseIterable {
    /// Follows the real SDKs.
    case clients
    /// Follows the vendor's documentation, to test how an SDK copes (`--strict-docs`).
    case documentation
}
