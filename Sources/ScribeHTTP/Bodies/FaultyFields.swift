import Basics
import Foundation
import ScribeDomain

/// Finds the fields of a JSON body that a type refuses, so that one answer names them all.
///
/// A decoder stops at the first. So that one is taken out, or gets a value of the type that was missed, and the body is
/// decoded again.
package struct FaultyFields {
    /// Most fields that an answer names.
    private static let limit = 10
    /// Longest body that is decoded again, in bytes.
    private static let longestBody = 64 << 10

    private var found: [(field: String?, problem: String)] = []

    /// - Parameter first: the error of the first decoding.
    init<Value: Decodable>(of type: Value.Type, in data: Data, first: DecodingError) {
        add(Fault(first))
        guard data.count <= Self.longestBody, var body = JSONDocument.untrusted(data, as: JSONValue.self) else {
            return
        }
        var seen = [Fault(first)]
        // A field that must be there takes up to three decodings: one without it, and two to learn its type.
        while let fault = seen.last, !fault.path.isEmpty, seen.count < 3 * Self.limit, found.count < Self.limit {
            body.set(fault.replacement, at: fault.path[...])
            let next: Fault
            do {
                _ = try JSONDocument(JSON.value(body).bytes).decode(type)
                return
            } catch let error as DecodingError {
                next = Fault(error)
                add(next)
            } catch ScribeError.invalidRequest(let field?, let problem) {
                next = Fault(field: field, problem)
                // Otherwise a value that was put in here is the fault.
                if !seen.contains(where: { $0.path.starts(with: next.path) }) { add(next) }
            } catch {
                return
            }
            guard !seen.contains(next) else { return }
            seen.append(next)
        }
    }

    private mutating func add(_ fault: Fault) {
        if !found.contains(where: { $0.field == fault.field }) { found.append((fault.field, fault.problem)) }
    }

    /// The error, whose field is the first.
    var error: ScribeError {
        let others = found.dropFirst().map { "\(Self.separator)\($0.field ?? "")' \($0.problem)" }
        return .invalidRequest(field: found[0].field, problem: found[0].problem + others.joined())
    }

    private static let separator = "; field '"

    /// The fields of such an error, for APIs that list them.
    package static func each(of field: String?, _ problem: String) -> [(field: String?, problem: String)] {
        let parts = problem.components(separatedBy: separator)
        return [(field, parts[0])]
            + parts.dropFirst().map { part in
                let words = part.components(separatedBy: "' ")
                return (words[0], words.dropFirst().joined(separator: "' "))
            }
    }
}

/// Value of a body that a decoder refuses.
private struct Fault: Equatable {
    enum Step: Hashable {
        case member(String)
        case item(Int)
    }

    let path: [Step]
    let problem: String
    /// A value for the field that may decode; nil to take the field out.
    let replacement: JSONValue?

    /// Path of the field, such as `templates.0.id`; nil for the body itself.
    var field: String? {
        let words = path.map { step in
            switch step {
            case .member(let name): name
            case .item(let index): String(index)
            }
        }
        return words.isEmpty ? nil : words.joined(separator: ".")
    }

    /// - Parameter field: Path with points between.
    init(field: String, _ problem: String) {
        path = field.split(separator: ".").map { Int($0).map(Step.item) ?? .member(String($0)) }
        (self.problem, replacement) = (problem, nil)
    }

    /// Names the problem without quoting the body.
    init(_ error: DecodingError) {
        func steps(_ context: DecodingError.Context) -> [Step] {
            context.codingPath.map { $0.intValue.map(Step.item) ?? .member($0.stringValue) }
        }
        switch error {
        case .typeMismatch(let type, let context):
            (path, problem) = (steps(context), "must be \(Self.words(for: type))")
            replacement = Self.value(of: type)
        case .valueNotFound(let type, let context):
            (path, problem, replacement) = (steps(context), "must not be null", Self.value(of: type))
        case .keyNotFound(let key, let context):
            (path, problem) = (steps(context) + [.member(key.stringValue)], "is required")
            // Its type is told by the next decoding, if it is no text.
            replacement = .string("")
        case .dataCorrupted(let context):
            path = steps(context)
            problem = path.isEmpty ? "must be JSON" : context.debugDescription
            replacement = nil
        @unknown default:
            (path, problem, replacement) = ([], "must be JSON", nil)
        }
    }

    private static func words(for type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is Int.Type, is Int64.Type: "an integer"
        case is Double.Type: "a number"
        case is [Any].Type: "an array"
        case is [String: Any].Type: "an object"
        default: String(describing: type).hasPrefix("Array") ? "an array" : "an object"
        }
    }

    private static func value(of type: Any.Type) -> JSONValue {
        switch words(for: type) {
        case "a string": .string("")
        case "true or false": .bool(false)
        case "an integer", "a number": .integer(0)
        case "an array": .array([])
        default: .object([:])
        }
    }
}

extension JSONValue {
    /// Sets the value at a path, whose last member is taken out for nil.
    fileprivate mutating func set(_ value: JSONValue?, at path: ArraySlice<Fault.Step>) {
        guard let step = path.first else { return self = value ?? .null }
        let rest = path.dropFirst()
        switch (self, step) {
        case (.object(var members), .member(let name)):
            if rest.isEmpty {
                members[name] = value
            } else {
                members[name]?.set(value, at: rest)
            }
            self = .object(members)
        case (.array(var items), .item(let index)) where items.indices.contains(index):
            items[index].set(value, at: rest)
            self = .array(items)
        default: break
        }
    }
}
