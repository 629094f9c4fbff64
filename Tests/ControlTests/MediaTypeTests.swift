import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

struct MediaTypeTests {
    @Test("the operator API answers 415 to a body whose content type is not JSON")
    func mediaTypes() async throws {
        try await TestServer().run { client in
            let made = try await client.login().post(
                "/voice/v1/webhooks", #"{"url":"inbox","events":["session.ended"]}"#)
            let paths = [
                "/__admin/deliveries/replay", "/__admin/deliveries/7/replay",
                "/__admin/webhooks/\(try made["webhook_id"])/test",
            ]
            let hook = "/__admin/webhooks/\(try made["webhook_id"])"
            let calls: [(HTTPRequest.Method, String)] =
                paths.map { (.post, $0) } + [(.post, "/__admin/webhooks"), (.patch, hook)]
            for (method, path) in calls {
                for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"] {
                    let headers: HTTPFields = [.contentType: type]
                    let answer = try await client.send(method, path, headers: headers, body: Data("{}".utf8))
                    #expect(answer.status == 415)
                    #expect(try answer["code"] == "not_json")
                }
            }
            let answer = try await client.post(
                paths[0], "{}", headers: [.contentType: "application/json; charset=utf-8"])
            #expect(answer.status == 202)
        }
    }
}
