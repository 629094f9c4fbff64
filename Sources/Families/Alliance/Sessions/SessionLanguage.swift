import Basics
import ScribeDomain

/// Languages that a client may hint at (medscribe.md 2.1 and 8).
enum SessionLanguage {
    /// Codes that discovery lists. The web SDK refuses others.
    static let listed = [
        "auto_detect", "en", "hi", "gu", "kn", "ml", "ta", "te", "bn", "mr", "pa", "or", "as", "en-IN", "en-US",
        "en-hi",
    ]

    /// The language codes of ISO 639-1.
    private static let codes = Set(
        """
        aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el \
        en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu \
        ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na \
        nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so \
        sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
        """.split(separator: " ").map(String.init))

    /// Finds the language of a hint, whatever its letter case.
    /// - Returns: nil for a hint that asks to detect the language, and for an unknown one.
    static func hinted(by hint: String) -> String? {
        let lowercased = hint.lowercased()
        if let known = listed.first(where: { $0.lowercased() == lowercased }) {
            return known == listed[0] ? nil : known
        }
        guard TransactionRequest.isLanguage(hint), codes.contains(String(lowercased.prefix { $0.isLetter })) else {
            return nil
        }
        return String(lowercased.prefix(2)) + hint.dropFirst(2)
    }
}
