import Basics
import Foundation
import HTTPTypes
import ScribeHTTP
import ScribeStore

/// Checks a request's preconditions against the stored object (RFC 9110, section 13).
struct S3Preconditions: Sendable {
    /// Result of the preconditions for a request that reads.
    enum Verdict: Hashable, Sendable {
        case met, notModified, failed
    }

    /// ETags of `If-Match` without quotes, or `*`.
    private let match: [String]?
    private let noneMatch: [String]?
    private let modifiedSince: Date?
    private let unmodifiedSince: Date?

    init(_ headers: HTTPFields) {
        match = Self.tags(headers, .ifMatch)
        noneMatch = Self.tags(headers, .ifNoneMatch)
        modifiedSince = headers.value(of: .ifModifiedSince).flatMap(Date.init(httpTime:))
        unmodifiedSince = headers.value(of: .ifUnmodifiedSince).flatMap(Date.init(httpTime:))
    }

    /// Preconditions of a copy on its source.
    init(ofCopy headers: HTTPFields) {
        func named(_ name: String) -> HTTPField.Name { .named("x-amz-copy-source-\(name)") }
        match = Self.tags(headers, named("if-match"))
        noneMatch = Self.tags(headers, named("if-none-match"))
        modifiedSince = headers[named("if-modified-since")].flatMap(Date.init(httpTime:))
        unmodifiedSince = headers[named("if-unmodified-since")].flatMap(Date.init(httpTime:))
    }

    func verdict(on object: StoredObject) -> Verdict {
        let modified = object.createdAt.timeIntervalSince1970.rounded(.down)
        if let match {
            if !Self.contains(match, object.eTag) { return .failed }
        } else if let unmodifiedSince, modified > unmodifiedSince.timeIntervalSince1970 {
            return .failed
        }
        if let noneMatch {
            if Self.contains(noneMatch, object.eTag) { return .notModified }
        } else if let modifiedSince, modified <= modifiedSince.timeIntervalSince1970 {
            return .notModified
        }
        return .met
    }

    /// Checks the preconditions of a request that replaces an object.
    /// - Parameter eTag: ETag of the present object; nil if there is none.
    /// - Throws: ``S3Error/preconditionFailed``; ``S3Error/noSuchKey`` for `If-Match` without an object.
    func permitReplacing(_ eTag: String?) throws(S3Error) {
        if let match {
            guard let eTag else { throw .noSuchKey }
            guard Self.contains(match, eTag) else { throw .preconditionFailed }
        }
        if let noneMatch, let eTag, Self.contains(noneMatch, eTag) { throw .preconditionFailed }
    }

    private static func contains(_ tags: [String], _ eTag: String) -> Bool { tags.contains { $0 == "*" || $0 == eTag } }

    private static func tags(_ headers: HTTPFields, _ name: HTTPField.Name) -> [String]? {
        headers[name]?.split(separator: ",").map { tag in
            var tag = tag.trimmingCharacters(in: .whitespaces)
            if tag.hasPrefix("W/") { tag.removeFirst(2) }
            return tag.trimmingCharacters(in: ["\""])
        }
    }
}
