import Basics
import Crypto
import Foundation
import ScribeHTTP

/// Parses and checks a POST policy: the signer's conditions on the fields of an upload form (AWS: POST policy).
struct PostPolicy: Hashable, Sendable {
    private enum Condition: Hashable, Sendable {
        case equals(field: String, value: String)
        case startsWith(field: String, prefix: String)

        var field: String {
            switch self {
            case .equals(let field, _), .startsWith(let field, _): field
            }
        }
    }

    /// Beginning of the refusal of a field that no condition names. Its name may be anything: log and journal leave it
    /// out.
    static let extraFields = "Invalid according to Policy: Extra input fields"

    private static let optionalInOwnForms: Set = ["content-type", "success_action_status"]

    private let expiration: Date
    private let conditions: [Condition]
    /// Permitted sizes of the file, in bytes.
    let sizes: ClosedRange<Int>

    /// Parses a base64-encoded POST policy.
    /// - Throws: ``S3Error`` for a malformed policy.
    init(base64 text: String) throws(S3Error) {
        guard let data = Data(base64Encoded: text.filter { !$0.isWhitespace }),
            let json = JSONDocument.untrusted(data, as: JSONValue.self),
            let expiration = json["expiration"]?.stringValue.flatMap(Date.init(iso8601:)),
            case .array(let items)? = json["conditions"]
        else { throw .invalidPolicyDocument("Invalid Policy: Invalid JSON.") }
        var conditions: [Condition] = []
        var sizes = 0...S3Responder.objectLimit
        for item in items {
            switch item {
            case .object(let members):
                for (name, value) in members {
                    guard let value = value.stringValue else { throw Self.malformed }
                    conditions.append(.equals(field: name.lowercased(), value: value))
                }
            case .array(let parts) where parts.count == 3:
                guard let word = parts[0].stringValue?.lowercased() else { throw Self.malformed }
                if word == "content-length-range" {
                    guard case .integer(let least) = parts[1], case .integer(let most) = parts[2],
                        least >= 0, least <= most, let least = Int(exactly: least), let most = Int(exactly: most)
                    else { throw Self.malformed }
                    // Several ranges all apply.
                    let (low, high) = (max(least, sizes.lowerBound), min(most, sizes.upperBound))
                    guard low <= high else { throw Self.malformed }
                    sizes = low...high
                    continue
                }
                guard let name = parts[1].stringValue, name.hasPrefix("$"), let value = parts[2].stringValue else {
                    throw Self.malformed
                }
                let field = name.dropFirst().lowercased()
                switch word {
                case "eq": conditions.append(.equals(field: field, value: value))
                case "starts-with": conditions.append(.startsWith(field: field, prefix: value))
                default: throw Self.malformed
                }
            default: throw Self.malformed
            }
        }
        self.expiration = expiration
        self.conditions = conditions
        self.sizes = sizes
    }

    private static let malformed = S3Error.invalidPolicyDocument("Invalid Policy: Invalid condition.")

    /// Checks an upload form against the policy.
    /// - Parameters:
    ///   - fields: The form's fields, names in lower case, with `bucket` added and the file's name filled in.
    ///   - isOwn: Whether this server made the form. Its clients send some fields or leave them out (eka.md 3.3).
    /// - Throws: ``S3Error/accessDenied(_:)``.
    func check(_ fields: [String: String], at now: Date, isOwn: Bool = false) throws(S3Error) {
        guard now < expiration else { throw .accessDenied("Invalid according to Policy: Policy expired.") }
        for condition in conditions {
            if isOwn, Self.optionalInOwnForms.contains(condition.field), fields[condition.field] == nil { continue }
            switch condition {
            case .equals(let field, let value):
                guard let given = fields[field], given.utf8.elementsEqual(value.utf8) else {
                    throw Self.failed(["eq", field, value])
                }
            case .startsWith(let field, let prefix):
                // An empty prefix demands the field too.
                guard let given = fields[field], given.utf8.starts(with: prefix.utf8) else {
                    throw Self.failed(["starts-with", field, prefix])
                }
            }
        }
        let unchecked: Set<String> = ["x-amz-signature", "policy"]
        let covered = Set(conditions.map(\.field))
        for name in fields.keys.sorted()
        where !unchecked.contains(name) && !covered.contains(name) && !name.hasPrefix("x-ignore-") {
            throw .accessDenied("\(Self.extraFields): \(name)")
        }
    }

    private static func failed(_ condition: [String]) -> S3Error {
        .accessDenied(
            "Invalid according to Policy: Policy Condition failed: [\"\(condition[0])\", \"$\(condition[1])\"]")
    }
}
