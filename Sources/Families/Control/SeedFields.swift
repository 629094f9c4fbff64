import ScribeDomain

/// Reads and validates the members of one JSON object in a seed. Errors name the object's path, such as `clients[0]`.
struct SeedFields {
    private let members: [String: JSONValue]
    private let place: String

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for anything but an object with these names.
    init(_ value: JSONValue, at place: String, allowed: Set<String>) throws(ScribeError) {
        guard case .object(let members) = value else {
            throw .invalidRequest(field: place, problem: "must be an object")
        }
        for name in members.keys.sorted() where !allowed.contains(name) {
            // The name is the client's text: only a short plain one is repeated.
            let shown = name.utf8.count <= 64 && name.isPlain ? name : "?"
            throw .invalidRequest(field: "\(place).\(shown)", problem: "is not known here")
        }
        self.members = members
        self.place = place
    }

    func problem(_ name: String, _ problem: String) -> ScribeError {
        .invalidRequest(field: "\(place).\(name)", problem: problem)
    }

    /// Reads a text of 1 to `limit` bytes without control characters; `lines` also allows line breaks and tabs. Nil if
    /// the member is missing.
    func text(_ name: String, upTo limit: Int = 255, lines: Bool = false) throws(ScribeError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= limit, text.storable == text,
            (lines ? text.filter { !$0.isNewline && $0 != "\t" } : text).isPlain
        else { throw problem(name, "must be a text of 1 to \(limit) bytes") }
        return text
    }

    /// A text that must be there.
    func required(_ name: String, upTo limit: Int = 255, lines: Bool = false) throws(ScribeError) -> String {
        guard let text = try text(name, upTo: limit, lines: lines) else { throw problem(name, "is missing") }
        return text
    }

    /// A whole number, at least 0.
    func count(_ name: String) throws(ScribeError) -> Int? {
        guard let value = members[name] else { return nil }
        guard case .integer(let number) = value, number >= 0 else { throw problem(name, "must be a whole number") }
        return Int(number)
    }

    /// A list of texts.
    func texts(_ name: String, atMost count: Int, upTo limit: Int = 255) throws(ScribeError) -> [String] {
        guard let value = members[name] else { return [] }
        guard case .array(let items) = value, items.count <= count else {
            throw problem(name, "must be a list of at most \(count)")
        }
        var texts: [String] = []
        for item in items {
            guard let text = item.stringValue, !text.isEmpty, text.utf8.count <= limit, text.isPlain else {
                throw problem(name, "must have texts of 1 to \(limit) bytes")
            }
            texts.append(text)
        }
        return texts
    }

    /// A list of objects.
    func objects(_ name: String, atMost count: Int, allowed: Set<String>) throws(ScribeError) -> [SeedFields] {
        try Self.objects(members[name], at: "\(place).\(name)", atMost: count, allowed: allowed)
    }

    /// A JSON value as it is.
    func value(_ name: String) -> JSONValue? { members[name] }

    static func objects(
        _ value: JSONValue?, at place: String, atMost count: Int, allowed: Set<String>
    ) throws(ScribeError) -> [SeedFields] {
        guard let value else { return [] }
        guard case .array(let items) = value, items.count <= count else {
            throw .invalidRequest(field: place, problem: "must be a list of at most \(count)")
        }
        var objects: [SeedFields] = []
        for (index, item) in items.enumerated() {
            objects.append(try SeedFields(item, at: "\(place)[\(index)]", allowed: allowed))
        }
        return objects
    }
}
