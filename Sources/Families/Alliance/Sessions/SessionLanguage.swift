import ScribeDomain

/// Languages that a client may hint at (medscribe.md 2.1 and 8).
enum SessionLanguage {
    /// Codes that discovery lists. The web SDK refuses others.
    static let listed = [
        "auto_detect", "en", "hi", "gu", "kn", "ml", "ta", "te", "bn", "mr", "pa", "or", "as", "en-IN", "en-US",
        "en-hi",
    ]

    /// Finds the language of a hint, whatever its letter case.
    /// - Returns: nil for a hint that asks to detect the language, and for an unknown one.
    static func hinted(by hint: String) -> String? {
        let lowercased = hint.lowercased()
        if let known = listed.first(where: { $0.lowercased() == lowercased }) {
            return known == listed[0] ? nil : known
        }
        guard SpokenLanguage.isKnown(hint) else { return nil }
        let code = lowercased.prefix { $0.isLetter }
        return String(code) + hint.dropFirst(code.count)
    }
}
