/// Mode of authentication: which tokens are accepted.
package enum AuthMode: String, Sendable, CaseIterable {
    /// Verifies this server's tokens; any other decodable JWT acts for the demo tenant.
    case lenient
    /// As lenient, and requests without a token act for the demo tenant: Android sends its token only to `*.eka.care`
    /// (C-80).
    case open
    /// Accepts only this server's tokens.
    case strict
}
