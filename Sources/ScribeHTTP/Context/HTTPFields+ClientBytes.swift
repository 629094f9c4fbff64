package import HTTPTypes
import ScribeDomain

/// Headers of answers whose bytes a client has uploaded: a browser that opens them takes them for no page of this server.
extension HTTPFields {
    /// Opaque origin, no script, and nothing fetched but the media that the answer itself is.
    private static let sandbox = "sandbox; default-src 'none'; media-src 'self'; img-src 'self'"
    /// What a browser shows without running anything of it, beside `audio/…`.
    private static let picturesShown = ["image/png", "image/jpeg", "image/webp"]

    /// For an answer that is asked for with a signature in a header, which no link can carry.
    package mutating func keepTypeAsSaid() { self[.contentTypeOptions] = "nosniff" }

    /// For an answer to a link that is a credential itself, and that any browser opens. Its `Content-Type` must be set, and
    /// what is neither audio nor a picture is saved in place of shown, unless `Content-Disposition` is set.
    /// - Parameter origin: of the page that asks. Chromium's own page around a recording has none in the sandbox, and asks
    ///   again by it: whoever has the link may read what it leads to.
    package mutating func sandboxLink(for origin: String?) {
        keepTypeAsSaid()
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
