import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// `/voice/api/v1/transaction/{txn}/feedback`: what users think of results.
///
/// The body is that of Suki's feedback (suki.md section 4), with the entity in it.
struct FeedbackRoutes: Sendable {
    let store: Store
    let identifiers: IdentifierSource
    let clock: ScribeClock

    func add(to router: RouterGroup<ScribeContext>) {
        router.post("voice/api/v1/transaction/{txn_id}/feedback", use: submit)
        router.get("voice/api/v1/transaction/{txn_id}/feedback", use: list)
    }

    private struct Rating: Codable {
        let minimum: Int
        let maximum: Int
        let rating: Int

        enum CodingKeys: String, CodingKey {
            case rating
            case minimum = "min_rating"
            case maximum = "max_rating"
        }

        init(minimum: Int, maximum: Int, rating: Int) {
            self.minimum = minimum
            self.maximum = maximum
            self.rating = rating
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            minimum = try container.decodeInteger(forKey: .minimum)
            maximum = try container.decodeInteger(forKey: .maximum)
            rating = try container.decodeInteger(forKey: .rating)
        }
    }

    private struct Submission: Decodable {
        let entity: String
        let rating: Rating
        let comments: String?

        enum CodingKeys: String, CodingKey {
            case entity
            case rating = "ratingFeedback"
            case comments = "qualitative_comments"
        }
    }

    private struct Item: Encodable {
        let feedback: Feedback

        private enum CodingKeys: String, CodingKey {
            case entity
            case id = "feedback_id"
            case rating = "ratingFeedback"
            case comments = "qualitative_comments"
            case createdAt = "created_at"
        }

        func encode(to encoder: any Encoder) throws {
            var item = encoder.container(keyedBy: CodingKeys.self)
            try item.encode(feedback.id, forKey: .id)
            try item.encode(feedback.entity, forKey: .entity)
            let rating = Rating(
                minimum: feedback.scale.lowerBound, maximum: feedback.scale.upperBound, rating: feedback.rating)
            try item.encode(rating, forKey: .rating)
            try item.encode(feedback.comments, forKey: .comments)
            try item.encode(feedback.createdAt.apiTime, forKey: .createdAt)
        }
    }

    private struct Acknowledgement: Encodable {
        let status = "success"
        let message = "Feedback submitted successfully"
        let feedback: String
        let entity: String
        let transaction: String
        let business: String

        enum CodingKeys: String, CodingKey {
            case status, message, entity
            case feedback = "feedback_id"
            case transaction = "txn_id"
            case business = "b_id"
        }
    }

    private struct ListBody: Encodable {
        let status = "success"
        let transaction: String
        let business: String
        let data: [Item]

        enum CodingKeys: String, CodingKey {
            case status, data
            case transaction = "txn_id"
            case business = "b_id"
        }
    }

    @Sendable private func submit(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let body: Submission = try await request.decodeJSON(in: context)
        let feedback = try Feedback(
            id: "fb_\(identifiers.uuid())", entity: body.entity, minimum: body.rating.minimum,
            maximum: body.rating.maximum, rating: body.rating.rating, comments: body.comments?.storable,
            createdAt: clock.now)
        try await store.add(feedback, to: key)
        return try .json(
            .ok,
            Acknowledgement(
                feedback: feedback.id, entity: feedback.entity, transaction: key.id.rawValue,
                business: key.business.rawValue))
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let given = try await store.feedback(on: key)
        return try await .longJSON(
            .ok,
            ListBody(
                transaction: key.id.rawValue, business: key.business.rawValue, data: given.map(Item.init)))
    }
}
