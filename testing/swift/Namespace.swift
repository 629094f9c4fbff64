// A namespace for one test, for Swift Testing and XCTest. docs/ci.md shows a test.
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Namespace {
    struct Refused: Error, CustomStringConvertible { let description: String }
    let root: URL
    private(set) var made: [String: Any] = [:]

    init(root: URL) async throws {
        self.root = root
        made = try await control("POST", "namespaces")
    }

    @discardableResult
    func control(_ method: String, _ path: String, _ body: [String: Any] = [:]) async throws -> [String: Any] {
        var request = URLRequest(url: URL(string: "/__admin/\(path)", relativeTo: root)!)
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(made["name"] as? String, forHTTPHeaderField: "X-Scribe-Namespace")
        request.httpBody = method == "POST" ? try JSONSerialization.data(withJSONObject: body) : nil
        let (data, response) = try await URLSession.shared.data(for: request)
        let json = data.isEmpty ? [:] : try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
        guard (response as? HTTPURLResponse)?.statusCode ?? 500 < 400 else {
            throw Refused(description: (json["diff"] ?? json["detail"]) as? String ?? "\(json)")
        }
        return json
    }

    func delete() async throws { try await control("DELETE", "namespaces/\(made["name"]!)") }
}
