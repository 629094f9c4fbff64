import Foundation
import ScribeDomain
import Testing

@testable import ScribeHTTP

@Suite("Faulty fields of a body")
struct FaultyFieldsTests {
    private struct Body: Decodable {
        struct Item: Decodable {
            let id: String
            let size: Int
        }

        let name: String
        let count: Int
        let items: [Item]
        let note: String?
    }

    private func error(_ body: String) throws -> ScribeError {
        let data = Data(body.utf8)
        do {
            _ = try JSONDecoder().decode(Body.self, from: data)
        } catch let error as DecodingError {
            return FaultyFields(of: Body.self, in: data, first: error).error
        }
        throw CancellationError()
    }

    @Test("one answer names them all, the first one first")
    func all() throws {
        let error = try error(#"{"name":5,"items":[{"id":1,"size":"x"},{"id":"a"}],"note":[]}"#)
        #expect(
            error
                == .invalidRequest(
                    field: "name",
                    problem: "must be a string; field 'count' is required; field 'items.0.id' must be a string; "
                        + "field 'items.0.size' must be an integer; field 'items.1.size' is required; "
                        + "field 'note' must be a string"))
    }

    @Test("a single one is named as before")
    func one() throws {
        #expect(
            try error(#"{"count":1,"items":[]}"#) == .invalidRequest(field: "name", problem: "is required"))
        #expect(try error("{") == .invalidRequest(field: nil, problem: "must be JSON"))
    }

    @Test("no more than ten are named")
    func many() throws {
        let items = String(repeating: #"{"id":1,"size":1},"#, count: 100).dropLast()
        guard case .invalidRequest(_, let problem) = try error(#"{"name":"","count":1,"items":[\#(items)]}"#) else {
            throw CancellationError()
        }
        #expect(problem.split(separator: ";").count == 10)
    }
}
