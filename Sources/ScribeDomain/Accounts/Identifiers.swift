import Basics

/// String identifier of one kind of object; the compiler keeps kinds apart.
package protocol StringIdentifier: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible
where RawValue == String {
    init(rawValue: String)
}

extension StringIdentifier {
    /// Wraps a raw value unchanged: identifiers are opaque and case-sensitive.
    package init(_ rawValue: String) { self.init(rawValue: rawValue) }

    /// Whether a text is a valid id of a client: 1 to 255 characters, none of them a control character.
    package static func isValid(_ text: String) -> Bool {
        (1...255).contains(text.unicodeScalars.count) && text.isPlain
    }

    package var description: String { rawValue }

    /// Compares identifiers by bytes, as the database does: texts that look alike are different ids.
    package static func == (one: Self, other: Self) -> Bool {
        one.rawValue.hasSameBytes(as: other.rawValue)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

/// Id that a client gives its transaction at init, for example `i-<uuid>` (iOS) or `txn_301` (.NET).
///
/// The id is opaque, case-sensitive and unique only within a business (eka.md 2.1).
package struct TransactionID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Id of a business, the owner of data. Every stored row carries one, and every read is scoped by it.
package struct BusinessID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Id of a user within a business: the `uuid` claim of the access token.
package struct UserID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Id of the clinician that a user acts as: the `oid` claim of the access token.
package struct DoctorID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// OAuth client id of a business, used at login.
package struct ClientID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Id of a note template, for example `clinical_notes_template`.
package struct TemplateID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Id of a template section.
package struct SectionID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// Id of a result document, stable for the life of its transaction and template (C-36).
package struct DocumentID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

extension TransactionID {
    /// Whether a text is a valid transaction id that can also name a folder.
    package static func isValidFolder(_ text: String) -> Bool {
        isValid(text) && !text.hasSlash && text != "." && text != ".."
    }

    /// Id for logs; `…` for any id that is long or has unusual characters, because an id may hold a person's name.
    package var logged: String {
        let isIdentifier =
            rawValue.utf8.count <= 64
            && rawValue.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
        return isIdentifier ? rawValue : "…"
    }
}

extension String {
    /// Whether the text has no control characters, as names require. A NUL would end the text early in C strings.
    package var isPlain: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// Text with U+FFFD in place of each NUL: the store would cut the text at a NUL.
    package var storable: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }

    /// Whether the text has a slash, compared by bytes: a combining character after a slash would hide the slash.
    package var hasSlash: Bool { utf8.contains(UInt8(ascii: "/")) }
}
