import Basics
import HTTPTypes
import Hummingbird
import Journal
import ScribeDomain

/// Conditions on requests, which fault rules and searches of the journal share.
extension JSONFields {
    /// Names of the conditions on parts of a request.
    static let ofRequests = ["header", "no_header", "query", "no_query", "no_body"]
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// Most conditions of one name.
    private static let mostOfName = 16

    /// A method in any case.
    func method() throws(ScribeError) -> String? {
        guard let method = try text("method")?.uppercased() else { return nil }
        guard Self.methods.contains(method) else { throw unknown("method", method, among: Self.methods) }
        return method
    }

    /// The conditions on header fields and parameters, each name once or as a list.
    func fieldConditions() throws(ScribeError) -> [FieldCondition] {
        var conditions: [FieldCondition] = []
        for place in FieldCondition.Place.allCases {
            for value in try values(place.rawValue) { conditions.append(try condition(place, value)) }
            for value in try values("no_\(place.rawValue)") {
                guard let name = value.stringValue?[...].trimmed, place.admits(name) else {
                    throw problem("no_\(place.rawValue)", "must be the name of a \(place.words)")
                }
                conditions.append(FieldCondition(place, name, nil))
            }
        }
        return conditions
    }

    private func condition(_ place: FieldCondition.Place, _ value: JSONValue) throws(ScribeError) -> FieldCondition {
        let parts = (value.stringValue ?? "")
            .split(separator: place.separator, maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first?.trimmed, place.admits(name), (value.stringValue ?? "").utf8.count <= 1024 else {
            throw problem(place.rawValue, place.rule)
        }
        let pattern = parts.count > 1 ? (place == .header ? parts[1].trimmed : String(parts[1])) : "*"
        return FieldCondition(place, name, Pattern(pattern))
    }

    /// - Parameter names: Those that may be there more than once.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for any other that is.
    func requireOnce(except names: [String]) throws(ScribeError) {
        for name in self.names where !names.contains(name) {
            if case .array? = self[name] { throw problem(name, "can be there only once") }
        }
    }

    /// The values of a name that may be there more than once: a list is several values.
    func values(_ name: String) throws(ScribeError) -> [JSONValue] {
        guard let value = self[name] else { return [] }
        guard case .array(let values) = value else { return [value] }
        guard (1...Self.mostOfName).contains(values.count) else {
            throw problem(name, "must be there 1 to \(Self.mostOfName) times")
        }
        return values
    }
}

extension FieldCondition.Place {
    fileprivate var words: String {
        switch self {
        case .header: "header field"
        case .query: "query parameter"
        }
    }

    fileprivate var separator: Character {
        switch self {
        case .header: ":"
        case .query: "="
        }
    }

    fileprivate var rule: String {
        switch self {
        case .header: "must be NAME or NAME: PATTERN, such as User-Agent: *Alamofire*"
        case .query: "must be NAME or NAME=PATTERN, such as page=2"
        }
    }

    fileprivate func admits(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255
            && (self == .query ? name.isPlain : HTTPField.Name(name) != nil)
    }
}

extension Request {
    /// The values of a header field, one for each time that it is there; of `Host` the authority.
    func values(of name: String) -> [String] {
        guard let name = HTTPField.Name(name) else { return [] }
        return head.values(of: name).map(\.value)
    }

    /// Whether the head leaves room for a body.
    /// - Parameter isStream: Whether the request is an HTTP/2 stream, whose body needs no length.
    func mayHaveBody(isStream: Bool) -> Bool {
        let isOpen = isStream && !head.announcesNoBody && [.post, .put, .patch].contains(method)
        return head.announcesBody || isOpen
    }

    /// The parameters of the query, names decoded as well as values.
    func values(ofParameter name: String) -> [String] {
        (uri.query ?? "").split(separator: "&").compactMap { part in
            let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { word in
                let plain = String(word).replacing("+", with: " ")
                return PercentEncoding.decode(plain) ?? plain
            }
            return words.first == name ? (words.count > 1 ? words[1] : "") : nil
        }
    }
}

extension HTTPRequest {
    /// The fields of a name; of `Host` the authority, without the name and password of a user.
    func values(of name: HTTPField.Name) -> [HTTPField] {
        let fields = headerFields.filter { $0.name == name } as [HTTPField]
        guard name.canonicalName == "host", let authority else { return fields }
        let shown = HTTPField.Name("Host") ?? name
        return [HTTPField(name: shown, value: authority.split(separator: "@").last.map(String.init) ?? authority)]
    }

    /// Whether the head tells that there is no body.
    var announcesNoBody: Bool { headerFields[.contentLength] == "0" }

    /// Whether the head tells of a body: `Content-Length` above 0, or `Transfer-Encoding`.
    var announcesBody: Bool {
        headerFields[.contentLength].map { $0 != "0" } ?? false || headerFields[.transferEncoding] != nil
    }
}
