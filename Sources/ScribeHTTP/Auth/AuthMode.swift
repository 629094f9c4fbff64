/// Which tokens are accepted.
package enum AuthMode: String, Sendable, CaseIterable {
    /// Ours are verified and mean their own tenant; any other JWT that can be decoded means the demo tenant.
    case lenient
    /// As lenient, and no token at all means the demo tenant too: Android sends its token only to `*.eka.care` (C-80).
    case open
    /// Only ours.
    case strict
}
