import Basics
package import HTTPTypes

/// Headers for answers with client-uploaded bytes: a browser must not treat them as a page of this server.
extension HTTPFields {
    /// Content security policy: opaque origin, no scripts, and nothing loaded but the media itself.
    private static let sandbox = "sandbox; default-src 'none'; media-src 'self'; img-src 'self'"
    /// Image types that a browser shows without running anything, beside `audio/…`.
    private static let picturesShown = ["image/png", "image/jpeg", "image/webp"]

    /// Forbids type sniffing, for an answer to a request signed in a header. No link can carry such a header.
    package mutating func forbidSniffing() { self[.contentTypeOptions] = "nosniff" }

    /// Sandboxes an answer to a link that is a credential, which any browser may open.
    ///
    /// `Content-Type` must be set. Other types than audio and images are downloaded, unless `Content-Disposition` is
    /// set.
    /// - Parameter origin: Origin of the requesting page. Chromium's viewer page has none in the sandbox, and repeats
    ///   the request with `null`. Such a page may read the bytes, since the link is the credential.
    package mutating func sandboxLink(for origin: String?) {
        forbidSniffing()
        if origin == "null" { self[.accessControlAllowOrigin] = "null" }
        self[.contentSecurityPolicy] = Self.sandbox
        if self[.contentDisposition] == nil, !isShown { self[.contentDisposition] = "attachment" }
    }

    private var isShown: Bool {
        let type = self[.contentType] ?? ""
        let kind = type.split(ascii: ";").first?.split(ascii: " ").first?.lowercased() ?? ""
        return kind.hasPrefix("audio/") || Self.picturesShown.contains(kind)
    }
}
