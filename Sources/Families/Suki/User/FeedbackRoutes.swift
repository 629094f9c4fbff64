import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `POST /api/v1/ambient/session/{id}/{entity}/feedback`: stores a clinician's rating of a note, once (suki.md section
/// 4).
struct FeedbackRoutes: Sendable {
    let sessions: AmbientSessions

    /// Decodes a rating, also in the spellings of the SDK's own types.
    private struct Rating: Decodable {
        let minimum: Int
        let maximum: Int
        let rating: Int

        private enum CodingKeys: String, CodingKey {
            case rating, minRating, maxRating
            case minimum = "min_rating"
            case maximum = "max_rating"
        }

        init(from decoder: any Decoder) throws {
            let body = try decoder.container(keyedBy: CodingKeys.self)
            func number(_ key: CodingKeys, _ other: CodingKeys) throws -> Int {
                try body.decodeInteger(forKey: body.contains(key) || !body.contains(other) ? key : other)
            }
            minimum = try number(.minimum, .minRating)
            maximum = try number(.maximum, .maxRating)
            rating = try body.decodeInteger(forKey: .rating)
        }
    }

    private struct Submission: Decodable {
        let rating: Rating
        let comments: String?

        private enum CodingKeys: String, CodingKey {
            case comments, quantitative
            case rating = "ratingFeedback"
            case qualitative = "qualitative_comments"
        }

        init(from decoder: any Decoder) throws {
            let body = try decoder.container(keyedBy: CodingKeys.self)
            let key: CodingKeys = body.contains(.rating) || !body.contains(.quantitative) ? .rating : .quantitative
            rating = try body.decode(Rating.self, forKey: key)
            comments =
                try body.decodeIfPresent(String.self, forKey: .qualitative)
                ?? body.decodeIfPresent(String.self, forKey: .comments)
        }
    }

    static func add(to router: WorldRoutes<Self>) {
        router.post("api/v1/ambient/session/{txn_id}/{entity}/feedback", use: submit)
    }

    @Sendable private func submit(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let (id, principal) = try context.requireAmbientSession()
        let body: Submission = try await request.decodeJSON(in: context)
        let session = try await sessions.find(id, of: principal)
        guard context.text(of: "entity") == "content" else { throw SukiError.unsupportedEntity }
        let feedback = try Feedback(
            id: "fb_\(sessions.runtime.identifiers.uuid(.feedback))", entity: "content", minimum: body.rating.minimum,
            maximum: body.rating.maximum, rating: body.rating.rating, comments: body.comments?.storable,
            createdAt: sessions.now)
        guard sessions.status(of: session) == .completed else {
            throw ScribeError.invalidState("There is no content to judge")
        }
        try await sessions.runtime.store.documents.addFeedback(feedback, to: session.key)
        return .json(.ok, ["feedback_id": .string(feedback.id)])
    }
}
