/// A string that names one kind of thing and cannot be mistaken for the name of another.
public protocol StringIdentifier: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible
where RawValue == String {
    init(rawValue: String)
}

extension StringIdentifier {
    /// Wraps `rawValue` unchanged: identifiers of this API are opaque and case-sensitive.
    public init(_ rawValue: String) { self.init(rawValue: rawValue) }

    public var description: String { rawValue }
}

/// The id that a client gives its transaction at init, for example `i-<uuid>` (iOS) or `txn_301` (.NET).
///
/// Opaque, case-sensitive and unique per business only (eka-v2.md 2.1).
public struct TransactionID: StringIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The tenant. Every stored row carries one and every read is scoped by it.
public struct BusinessID: StringIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A user within a business: the `uuid` claim of the access token.
public struct UserID: StringIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The doctor that a user acts as: the `oid` claim of the access token.
public struct DoctorID: StringIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// An API client of a business, as used at login.
public struct ClientID: StringIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A note template, for example `clinical_notes_template`.
public struct TemplateID: StringIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// One result document; stable for the life of its transaction and template (C-36).
public struct DocumentID: StringIdentifier {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}
