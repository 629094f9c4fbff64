/// Validity of issued tokens and credentials, in seconds.
package struct TokenLifetimes: Hashable, Sendable {
    package var accessToken = 24.0 * 60 * 60
    package var refreshToken = 30.0 * 24 * 60 * 60
    /// 12 h, longer than any visit (eka.md 2.11).
    package var uploadCredentials = 12.0 * 60 * 60

    package init() {}
}
