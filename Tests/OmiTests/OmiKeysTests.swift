import Foundation
import HTTPTypes
import Omi
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

struct OmiKeysTests {
    private static func part(_ json: String) -> String {
        Data(json.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    }

    @Test("while an issuer's keys cannot be fetched, every Omi route answers 503 to the issuer's tokens")
    func unreachable() async throws {
        var server = try TestServer()
        // Nobody listens on the discard port.
        server.configuration.omi.jwksURL = "http://127.0.0.1:9/jwks"
        server.configuration.omi.project = "omi"
        let claims = #"{"iss":"https://securetoken.google.com/omi","aud":"omi","sub":"u1","exp":4102444800}"#
        let token = "\(Self.part(#"{"alg":"RS256","kid":"k1"}"#)).\(Self.part(claims)).c2ln"
        let conversation = "/v1/conversations/c-1"
        let memory = "/v3/memories/m-1"
        let routes: [(HTTPRequest.Method, String)] = [
            (.get, "/v4/listen"), (.get, "/v1/conversations"), (.post, "/v1/conversations"), (.get, conversation),
            (.delete, conversation), (.get, "\(conversation)/transcripts"), (.get, "\(conversation)/photos"),
            (.get, "\(conversation)/recording"), (.patch, "\(conversation)/title"),
            (.patch, "\(conversation)/segments/assign-bulk"), (.patch, "\(conversation)/segments/0/assign"),
            (.post, "\(conversation)/reprocess"), (.post, "/v1/transcribe/text"), (.get, "/v3/memories"),
            (.post, "/v3/memories"), (.patch, memory), (.delete, memory), (.patch, "\(memory)/visibility"),
        ]
        try await server.run { client in
            for (method, path) in routes {
                let answer = try await client.send(method, path, headers: [.authorization: "Bearer \(token)"])
                #expect(answer.status == 503, "\(method) \(path)")
                #expect(answer.headers[.retryAfter] == "10")
                #expect(try answer["detail"].contains("cannot be fetched"))
            }
            let own = try await client.login()
            let listed = try await own.get("/v1/conversations")
            #expect(listed.status == 200, "other tokens are judged as ever")
        }
    }
}
