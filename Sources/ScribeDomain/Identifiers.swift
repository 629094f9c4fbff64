/// A string that names one kind of thing and cannot be mistaken for the name of another.
package protocol StringIdentifier: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible
where RawValue == String {
    init(rawValue: String)
}

extension StringIdentifier {
    /// Wraps `rawValue` unchanged: identifiers of this API are opaque and case-sensitive.
    package init(_ rawValue: String) { self.init(rawValue: rawValue) }

    package var description: String { rawValue }

    /// By bytes, as the database has it: texts that look alike are different ids.
    package static func == (one: Self, other: Self) -> Bool {
        one.rawValue == other.rawValue && one.rawValue.utf8.elementsEqual(other.rawValue.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

/// The id that a client gives its transaction at init, for example `i-<uuid>` (iOS) or `txn_301` (.NET).
///
/// Opaque, case-sensitive and unique per business only (eka.md 2.1).
package struct TransactionID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// The tenant. Every stored row carries one and every read is scoped by it.
package struct BusinessID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A user within a business: the `uuid` claim of the access token.
package struct UserID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// The doctor that a user acts as: the `oid` claim of the access token.
package struct DoctorID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// An API client of a business, as used at login.
package struct ClientID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A note template, for example `clinical_notes_template`.
package struct TemplateID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// A section that templates are built of.
package struct SectionID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

/// One result document; stable for the life of its transaction and template (C-36).
package struct DocumentID: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }
}

extension TransactionID {
    /// Whether a text can be a transaction's id: clients make theirs up, but none is empty, of more than 255 characters
    /// or with a control character among them.
    package static func isValid(_ text: String) -> Bool {
        (1...255).contains(text.unicodeScalars.count) && text.isPlain
    }

    /// Whether it can also be the name of a folder.
    package static func isValidFolder(_ text: String) -> Bool {
        isValid(text) && !text.hasSlash && text != "." && text != ".."
    }
}

extension TemplateID {
    /// Whether a text can be a template's id: not empty, of 255 characters at most, none of them a control character.
    package static func isValid(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.count <= 255 && text.isPlain
    }
}

extension TransactionID {
    /// As it may stand in a log: clients make it up, so that it may hold a name, or no end of anything.
    package var logged: String {
        let isIdentifier =
            rawValue.utf8.count <= 64
            && rawValue.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
        return isIdentifier ? rawValue : "…"
    }
}

extension String {
    /// Without control characters: fit for a name. A NUL would end it early wherever it is kept as a C string.
    package var isPlain: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// The text with U+FFFD for each NUL: the store ends a text there, and what follows would be lost.
    package var storable: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }

    /// Whether a slash is in it, by bytes: a combining character after one would hide it.
    package var hasSlash: Bool { utf8.contains(UInt8(ascii: "/")) }
}
