import Basics
package import Foundation

/// Rating and comment of a user about a result.
package struct Feedback: Hashable, Sendable {
    /// Longest comment in characters (grapheme clusters).
    package static let commentLimit = 2000
    /// Longest comment in bytes.
    package static let commentSize = 64 << 10

    package let id: String
    /// Rated part of the result, for example `content`; a transaction has one feedback per part.
    package let entity: String
    /// Scale of the rating, both ends included.
    package let scale: ClosedRange<Int>
    package let rating: Int
    package let comments: String?
    package let createdAt: Date

    /// Validates feedback from a client.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` that names the field.
    package init(
        id: String, entity: String, minimum: Int, maximum: Int, rating: Int, comments: String?, createdAt: Date
    ) throws(ScribeError) {
        let isName = (1...64).contains(entity.utf8.count) && entity.utf8.allSatisfy(\.isInIdentifier)
        guard isName else { throw .invalidRequest(field: "entity", problem: "must be a name such as content") }
        guard minimum < maximum else {
            throw .invalidRequest(field: "ratingFeedback.max_rating", problem: "must be greater than min_rating")
        }
        guard (minimum...maximum).contains(rating) else {
            throw .invalidRequest(field: "ratingFeedback.rating", problem: "must be from min_rating to max_rating")
        }
        if let comments, comments.count > Self.commentLimit || comments.utf8.count > Self.commentSize {
            throw .invalidRequest(
                field: "qualitative_comments", problem: "must have at most \(Self.commentLimit) characters")
        }
        self.id = id
        self.entity = entity
        self.scale = minimum...maximum
        self.rating = rating
        self.comments = comments
        self.createdAt = createdAt
    }

    /// Creates feedback from its stored row, without validation.
    package init(
        stored id: String, entity: String, scale: ClosedRange<Int>, rating: Int, comments: String?, createdAt: Date
    ) {
        self.id = id
        self.entity = entity
        self.scale = scale
        self.rating = rating
        self.comments = comments
        self.createdAt = createdAt
    }
}
