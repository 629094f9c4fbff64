import Basics
import Foundation
import Testing

extension TestScribeClient {
    /// Waits until `count` deliveries are in a state, and returns them.
    package func deliveries(_ state: String, count: Int) async throws -> [JSONValue] {
        while true {
            let answer = try await get("/__admin/deliveries?state=\(state)")
            try #require(answer.status == 200)
            if case .array(let found)? = answer.json["deliveries"], found.count >= count { return found }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    package func delivered(_ count: Int) async throws -> [JSONValue] { try await deliveries("delivered", count: count) }
}
