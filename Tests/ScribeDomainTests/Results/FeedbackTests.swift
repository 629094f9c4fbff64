import Foundation
import ScribeDomain
import Testing

struct FeedbackTests {
    func feedback(
        entity: String = "content", _ minimum: Int = 1, _ maximum: Int = 5, _ rating: Int = 3, comments: String? = nil
    ) throws -> Feedback {
        try Feedback(
            id: "f", entity: entity, minimum: minimum, maximum: maximum, rating: rating, comments: comments,
            createdAt: TransactionPatchTests.start)
    }

    @Test(
        "the lowest and the highest value of any scale are valid ratings",
        arguments: [(1, 5, 1), (1, 5, 5), (0, 1, 0), (-2, 2, -2)])
    func bounds(minimum: Int, maximum: Int, rating: Int) throws {
        #expect(try feedback(minimum, maximum, rating).scale == minimum...maximum)
    }

    @Test(
        "a rating outside its scale is refused, and so is an invalid scale",
        arguments: [(1, 5, 6), (1, 5, 0), (5, 5, 5), (5, 1, 3)])
    func beyond(minimum: Int, maximum: Int, rating: Int) {
        #expect(throws: ScribeError.self) { try feedback(minimum, maximum, rating) }
    }

    @Test("a feedback comment has at most 2000 characters, however many bytes they take")
    func comments() throws {
        #expect(try feedback(comments: String(repeating: "म", count: 2000)).comments?.isEmpty == false)
        #expect(throws: ScribeError.self) { try feedback(comments: String(repeating: "a", count: 2001)) }
    }

    @Test(
        "a feedback entity that is no name of at most 64 characters is refused",
        arguments: ["", "a b", "a/b", "\u{0}", String(repeating: "a", count: 65)])
    func entities(entity: String) {
        #expect(throws: ScribeError.self) { try feedback(entity: entity) }
    }
}
