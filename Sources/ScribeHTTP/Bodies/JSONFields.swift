package import Basics
package import Hummingbird
package import ScribeDomain

/// Reads and validates the members of a JSON object from an operator. An error names the member by its path, such as
/// `clients[0].name`. A missing member is nil, or false for ``flag(_:)``.
package struct JSONFields: Sendable {
    private let members: [String: JSONValue]
    /// Path of the object; nil for the body itself.
    private let place: String?
    /// Whether a number or a boolean may be a string, because headers and the command line have only strings.
    private let readsTexts: Bool

    package init(_ members: [String: JSONValue], readsTexts: Bool = false) {
        (self.members, self.readsTexts, place) = (members, readsTexts, nil)
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for anything but an object with these names.
    package init(_ value: JSONValue, at place: String? = nil, allowed names: [String]) throws(ScribeError) {
        guard case .object(let members) = value else {
            throw .invalidRequest(field: place, problem: place == nil ? "must be a JSON object" : "must be an object")
        }
        (self.members, self.place, readsTexts) = (members, place, false)
        try requireKnown(names)
    }

    package subscript(name: String) -> JSONValue? { members[name] }

    var names: [String] { members.keys.sorted() }

    package func has(_ name: String) -> Bool { members[name] != nil }

    package func problem(_ name: String, _ problem: String) -> ScribeError {
        .invalidRequest(field: place.map { "\($0).\(name)" } ?? name, problem: problem)
    }

    /// The error for a value that names nothing, with the nearest name.
    package func unknown(_ field: String, _ name: String, among known: [String]) -> ScribeError {
        problem(field, ScribeError.noSuch(field, name, among: known))
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a member of another name.
    package func requireKnown(_ names: [String]) throws(ScribeError) {
        for name in members.keys.sorted() where !names.contains(name) {
            // The name is the client's text: only a short plain one is repeated.
            let shown = name.utf8.count <= 64 && name.isPlain ? name : "?"
            let near = nearestName(to: String(name.prefix(64)), among: names)
            throw problem(shown, "is not known; the nearest name is \(near)")
        }
    }

    /// A text of 1 to `limit` bytes without control characters.
    /// - Parameter lines: Whether it may have line breaks and tabs.
    package func text(_ name: String, upTo limit: Int = 255, lines: Bool = false) throws(ScribeError) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= limit,
            (lines ? text.filter { !$0.isNewline && $0 != "\t" } : text).isPlain
        else { throw problem(name, "must be a text of 1 to \(limit) bytes") }
        return text
    }

    /// A text that must be there.
    package func required(_ name: String, upTo limit: Int = 255, lines: Bool = false) throws(ScribeError) -> String {
        guard let text = try text(name, upTo: limit, lines: lines) else { throw problem(name, "is missing") }
        return text
    }

    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, among type: Choice.Type = Choice.self, upTo limit: Int = 255
    ) throws(ScribeError) -> Choice? where Choice.RawValue == String {
        guard let text = try text(name, upTo: limit) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw unknown(name, text, among: Choice.allCases.map(\.rawValue))
        }
        return choice
    }

    package func integer(_ name: String, from low: Int, to high: Int = 1_000_000_000) throws(ScribeError) -> Int? {
        guard let value = members[name] else { return nil }
        let number: Int? =
            switch value {
            case .integer(let number): Int(exactly: number)
            case .string(let text): readsTexts ? Int(text) : nil
            case .null, .bool, .number, .digits, .array, .object: nil
            }
        guard let number, (low...high).contains(number) else {
            throw problem(name, "must be a whole number from \(low) to \(high)")
        }
        return number
    }

    /// A number above 0, and at most 1.
    package func probability(_ name: String) throws(ScribeError) -> Double? {
        guard let value = members[name] else { return nil }
        let read = value.numberValue ?? (readsTexts ? value.stringValue.flatMap(Double.init) : nil)
        guard let number = read, number > 0, number <= 1 else {
            throw problem(name, "must be a number above 0, and at most 1")
        }
        return number
    }

    package func flag(_ name: String) throws(ScribeError) -> Bool {
        switch members[name] {
        case nil: return false
        case .bool(let value): return value
        case .string("true") where readsTexts: return true
        case .string("false") where readsTexts: return false
        default: throw problem(name, "must be true or false")
        }
    }

    /// A duration, such as `90s` or `PT1H`.
    /// - Parameter limit: the longest duration, as text.
    package func duration(_ name: String, upTo limit: String? = nil) throws(ScribeError) -> Duration? {
        guard let value = members[name] else { return nil }
        guard let duration = value.stringValue.flatMap({ ClockDuration($0)?.duration }),
            duration <= limit.flatMap({ ClockDuration($0)?.duration }) ?? duration
        else {
            throw problem(name, "must be a duration\(limit.map { " up to \($0)" } ?? ""), such as 90s, 30d or PT1H")
        }
        return duration
    }

    /// A list of texts; empty if the member is missing.
    package func texts(_ name: String, atMost count: Int, upTo limit: Int = 255) throws(ScribeError) -> [String] {
        guard let value = members[name] else { return [] }
        guard case .array(let items) = value, items.count <= count else {
            throw problem(name, "must be a list of at most \(count)")
        }
        return try items.map { item throws(ScribeError) in
            guard let text = item.stringValue, !text.isEmpty, text.utf8.count <= limit, text.isPlain else {
                throw problem(name, "must have texts of 1 to \(limit) bytes")
            }
            return text
        }
    }

    /// A list of known names; empty if the member is missing.
    package func choices<Choice: RawRepresentable & CaseIterable>(
        _ name: String, of type: Choice.Type = Choice.self
    ) throws(ScribeError) -> [Choice] where Choice.RawValue == String {
        let known = Choice.allCases.map(\.rawValue)
        let texts = try texts(name, atMost: known.count)
        return try texts.map { text throws(ScribeError) in
            guard let choice = Choice(rawValue: text) else { throw unknown(name, text, among: known) }
            return choice
        }
    }

    /// A list of objects; empty if the member is missing.
    package func objects(_ name: String, atMost count: Int, allowed: [String]) throws(ScribeError) -> [JSONFields] {
        try Self.objects(members[name], at: place.map { "\($0).\(name)" } ?? name, atMost: count, allowed: allowed)
    }

    package static func objects(
        _ value: JSONValue?, at place: String, atMost count: Int, allowed: [String]
    ) throws(ScribeError) -> [JSONFields] {
        guard let value else { return [] }
        guard case .array(let items) = value, items.count <= count else {
            throw .invalidRequest(field: place, problem: "must be a list of at most \(count)")
        }
        return try items.enumerated().map { item throws(ScribeError) in
            try JSONFields(item.element, at: "\(place)[\(item.offset)]", allowed: allowed)
        }
    }
}

extension Request {
    /// The members of an operator's JSON body; none for an empty body.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a member that is not allowed.
    package func fields(_ allowed: [String] = [], context: ScribeContext) async throws -> JSONFields {
        try JSONFields(try await decodeOptionalJSON(in: context) ?? .object([:]), allowed: allowed)
    }
}
