import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

struct FaultTargetTests {
    private static let others = ["PutObject", "GetObject", "transcription", "note", "webhook"]

    @Test("each target is in the list of its group, and the most common ones come first")
    func groups() throws {
        let all = FaultTarget.all(.documented, others: Self.others)
        let model = FaultTarget.model(all)
        let groups = try #require(model["groups"] as? [ConsoleViews.Model])
        let names = groups.map { group in
            (group["targets"] as? [ConsoleViews.Model] ?? []).compactMap { $0["target"] as? String }
        }
        #expect(groups.compactMap { $0["group"] as? String } == FaultTarget.Group.allCases.map(\.rawValue))
        #expect(names[0] == ["commitTransaction", "PutObject", "transcription", "note", "webhook", "openListenSocket"])
        #expect(names.dropFirst().joined().count == all.count && names.allSatisfy { !$0.isEmpty })
        #expect(names[5].contains("openListenSocket") && !names[1].contains("openListenSocket"))
    }

    @Test("the operator API takes each way to fail of each group")
    func answers() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            let page = try await visitor.page("/bench").text
            let text = try #require(page.firstMatch(of: /data-answers="([^"]+)"/)).1.replacing("&quot;", with: "\"")
            let operations = [
                "Common": "commitTransaction", "Requests": "initTransaction", "Uploads": "PutObject",
                "Recognition and note": "note", "Webhooks": "webhook", "Sockets": "openListenSocket",
            ]
            var taken = 0
            for group in text.matches(of: /"([A-Za-z ]+)":\[(\[.*?\])\]/) {
                let operation = try #require(operations[String(group.1)])
                for rule in group.2.matches(of: /\["([^"]+)",/) {
                    let members = rule.1.split(separator: " ").map { part -> String in
                        let parts = part.split(separator: "=")
                        let isWord = Int(parts[1]) == nil && parts[1] != "true"
                        return isWord ? #""\#(parts[0])":"\#(parts[1])""# : #""\#(parts[0])":\#(parts[1])"#
                    }
                    let body = #"{"operation":"\#(operation)",\#(members.joined(separator: ","))}"#
                    let answer = try await visitor.act(.post, "/admin/faults/next", body)
                    #expect(answer.status == 201, "\(body): \(answer.text)")
                    taken += 1
                }
            }
            #expect(taken == 37)
        }
    }
}
