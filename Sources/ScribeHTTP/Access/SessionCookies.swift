package import HTTPTypes
package import Hummingbird

/// Login cookies of the vendor's web app, which sends its tokens in no other way (eka.md 1.3).
///
/// Browsers send them from pages of the same site only (`SameSite=Lax`), and scripts cannot read them (`HttpOnly`).
package struct SessionCookies: Sendable {
    private static let accessName = "sess"
    private static let refreshName = "sess_refresh"

    package let accessToken: String?
    package let refreshToken: String?

    package init(_ headers: HTTPFields) {
        let cookies = Cookies(from: headers[values: .cookie])
        func token(_ name: String) -> String? { cookies[name].map(\.value).flatMap { $0.isEmpty ? nil : $0 } }
        accessToken = token(Self.accessName)
        refreshToken = token(Self.refreshName)
    }

    /// Sets both cookies for the refresh token's lifetime, so that a renewal still sees the expired access token.
    /// - Parameters:
    ///   - lifetime: Seconds.
    ///   - path: Path of the pages that send the cookies, see ``ScribeContext/linkPath``; empty for all pages.
    package static func keep(
        accessToken: String, refreshToken: String, lifetime: Int, isSecure: Bool, below path: String,
        in response: inout Response
    ) {
        for (name, value) in [(accessName, accessToken), (refreshName, refreshToken)] {
            response.setCookie(
                Cookie(
                    name: name, value: value, maxAge: lifetime, path: path.isEmpty ? "/" : path, secure: isSecure,
                    httpOnly: true,
                    sameSite: .lax))
        }
    }

    package static func forget(isSecure: Bool, below path: String, in response: inout Response) {
        keep(accessToken: "", refreshToken: "", lifetime: 0, isSecure: isSecure, below: path, in: &response)
    }
}
