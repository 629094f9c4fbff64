import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/api/v1/transaction/{txn}/feedback`: stores and lists users' ratings of results.
///
/// The body is Suki's feedback body (suki.md section 4) with an added `entity`.
struct FeedbackRoutes: Sendable {
    let runtime: Runtime

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/api/v1/transaction/{txn_id}/feedback", use: submit)
        router.get("voice/api/v1/transaction/{txn_id}/feedback", use: list)
    }

    private struct Rating: Decodable {
        let minimum: Int
        let maximum: Int
        let rating: Int

        enum CodingKeys: String, CodingKey {
            case rating
            case minimum = "min_rating"
            case maximum = "max_rating"
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

    @Sendable private func submit(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let body: Submission = try await request.decodeJSON(in: context)
        let feedback = try Feedback(
            id: "fb_\(runtime.identifiers.uuid(.feedback))", entity: body.entity, minimum: body.rating.minimum,
            maximum: body.rating.maximum, rating: body.rating.rating, comments: body.comments?.storable,
            createdAt: runtime.clock.now)
        try await runtime.store.documents.addFeedback(feedback, to: key)
        let more: JSON = ["feedback_id": .string(feedback.id), "entity": .string(feedback.entity)]
        return .json(.ok, .success("Feedback submitted successfully", key, with: more))
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let key = try context.requireTransaction()
        let given = try await runtime.store.documents.feedback(on: key)
        return try await .longJSON(
            .ok,
            [
                "status": "success", "txn_id": .string(key.id.rawValue), "b_id": .string(key.business.rawValue),
                "data": .array(given) { $0.json },
            ])
    }
}

extension Feedback {
    fileprivate var json: JSON {
        [
            "feedback_id": .string(id), "entity": .string(entity),
            "ratingFeedback": [
                "min_rating": .integer(scale.lowerBound), "max_rating": .integer(scale.upperBound),
                "rating": .integer(rating),
            ],
            "qualitative_comments": comments.map(JSON.string).orNull, "created_at": .string(createdAt.apiTime),
        ]
    }
}
