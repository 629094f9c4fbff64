import Foundation
import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

/// `/__admin/sockets`: open sockets, their end by an operator, and rules that are added while they are open.
struct SocketRoutesTests {
    private static let path = "/__admin/sockets"
    private static let listen = "/v1/listen?encoding=linear16&sample_rate=16000"

    /// Opens a live socket, and waits until an operator sees it.
    private func visit(
        _ client: TestScribeClient, _ act: @escaping @Sendable (TestSocket) async throws -> Void
    ) async throws -> (texts: [String], code: UInt16?) {
        let token = try #require(client.headers[.authorization])
        return try await TestSocket.open(Self.listen, port: try #require(client.port), [("authorization", token)]) {
            socket in
            while !(try await client.get(Self.path)).has("sockets.0") {}
            try await act(socket)
            return try await socket.end()
        }
    }

    /// Sends a message, and waits until it is counted as this one.
    private func receive(_ count: Int, _ socket: TestSocket, _ client: TestScribeClient) async throws {
        try await socket.send(#"{"type":"KeepAlive"}"#)
        while !(try await client.get(Self.path)).text.contains(#""received":\#(count)"#) {}
    }

    @Test("an operator sees the open sockets with their messages, and closes one with a code of his own")
    func close() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.get(Self.path).text == #"{"sockets":[]}"#)
            let end = try await visit(client) { socket in
                try await socket.send(#"{"type":"KeepAlive"}"#)
                var list = try await client.get(Self.path)
                while !list.text.contains(#""received":1"#) { list = try await client.get(Self.path) }
                #expect(try list["sockets.0.path"] == "/v1/listen")
                #expect(try list["sockets.0.operation"] == "openListenSocket")
                #expect(try list["sockets.0.client"] == "dev-client")
                #expect(list.has("sockets.0.request_id"))
                for body in [
                    #"{"code":1005}"#, #"{"code":999}"#, #"{"code":"x"}"#, #"{"reset":true,"code":1001}"#,
                    #"{"word":1}"#,
                ] {
                    #expect(try await client.post(Self.path + "/1/close", body).status == 400, "\(body)")
                }
                let text = try await client.send(
                    .post, Self.path + "/1/close", headers: [.contentType: "text/plain"], body: Data("{}".utf8))
                #expect(text.status == 415)
                #expect(try await client.post(Self.path + "/9/close", "{}").status == 404)
                #expect(try await client.post(Self.path + "/word/close", "{}").status == 404)
                let closed = try await client.post(Self.path + "/1/close", #"{"code":4321,"reason":"come back"}"#)
                #expect(closed.status == 200)
                #expect(try closed["client"] == "dev-client")
            }
            #expect(end.code == 4321)
            let journal = try await client.post("/__admin/requests/wait", #"{"kind":"socket","frame":"*KeepAlive*"}"#)
            #expect(journal.status == 200)
            #expect(try await client.get(Self.path).text == #"{"sockets":[]}"#)
        }
    }

    @Test("an operator resets the connection of a socket, whose client gets no close frame")
    func reset() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let end = try await visit(client) { _ in
                let answer = try await client.post(Self.path + "/1/close", #"{"reset":true}"#)
                #expect(answer.status == 200)
            }
            #expect(end.code == nil)
            let cut = try await client.get("/__admin/requests?kind=socket")
            #expect(try cut["requests.0.end"] == "cut")
        }
    }

    @Test("a rule that is added while a socket is open applies to its further messages, and counts from there")
    func lateRules() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let end = try await visit(client) { socket in
                try await receive(1, socket, client)
                _ = try await client.post(
                    "/__admin/faults", #"{"operation":"openSessionSocket","after_received":1,"close":4000}"#)
                _ = try await client.post(
                    "/__admin/faults", #"{"id":"first","client":"dev-client","after_received":2,"close":4001}"#)
                _ = try await client.post("/__admin/faults", #"{"path":"/v1/*","after_received":1,"close":4002}"#)
                try await receive(2, socket, client)
                #expect(try await client.get(Self.path)["sockets.0.fault"] == "first")
                _ = try await client.send(.delete, "/__admin/faults/first")
                _ = try await client.post("/__admin/faults", #"{"id":"next","after_received":2,"close":4003}"#)
                try await receive(3, socket, client)
                #expect(try await client.get(Self.path)["sockets.0.fault"] == "next")
                try await socket.send(#"{"type":"KeepAlive"}"#)
            }
            #expect(end.code == 4003)
            let shown = try await client.get("/__admin/requests?kind=socket&fault=next")
            #expect(shown.has("requests.0"))
        }
    }

    @Test("a rule that is added while another one applies gets its turn when that is gone, also under its name")
    func nextRules() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let end = try await visit(client) { socket in
                func faults(_ method: HTTPRequest.Method, _ path: String, _ body: String = "{}") async throws {
                    let answer = try await client.send(
                        method, "/__admin/faults\(path)", headers: [.contentType: "application/json"],
                        body: Data(body.utf8))
                    #expect(answer.status < 300, "\(answer.text)")
                }
                try await faults(.post, "", #"{"id":"first","results":"missing"}"#)
                try await receive(1, socket, client)
                try await faults(.post, "", #"{"id":"second","path":"/v1/listen","after_received":9,"close":4001}"#)
                try await receive(2, socket, client)
                #expect(try await client.get(Self.path)["sockets.0.fault"] == "first")
                try await faults(.delete, "/first")
                try await receive(3, socket, client)
                #expect(try await client.get(Self.path)["sockets.0.fault"] == "second")
                // A change that changes nothing is no reason to count the socket again.
                try await faults(.patch, "/second", #"{"is_on":true}"#)
                try await receive(4, socket, client)
                #expect(try await client.get("/__admin/faults").text.contains(#""matched":1,"#))
                try await faults(.delete, "/second")
                try await faults(.post, "", #"{"id":"second","after_received":1,"close":4002}"#)
                try await socket.send(#"{"type":"KeepAlive"}"#)
            }
            #expect(end.code == 4002)
        }
    }

    @Test("an operator ends a socket whose messages wait for a clock that stands still")
    func late() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.send(
                .put, "/__admin/clock", headers: [.contentType: "application/json"],
                body: Data(#"{"mode":"frozen"}"#.utf8))
            let end = try await visit(client) { socket in
                _ = try await client.post(
                    "/__admin/faults", #"{"id":"w","results":"late","delay":"2s","clock":"world"}"#)
                try await socket.send(#"{"type":"Finalize"}"#)
                try await socket.send(#"{"type":"CloseStream"}"#)
                var list = try await client.get(Self.path)
                while !list.text.contains(#""received":2"#) { list = try await client.get(Self.path) }
                // Its messages keep their clock.
                _ = try await client.send(.delete, "/__admin/faults/w")
                #expect(try await client.post(Self.path + "/1/close", "").status == 200)
            }
            #expect(end.code != nil)
            var list = try await client.get(Self.path)
            while list.has("sockets.0") { list = try await client.get(Self.path) }
        }
    }

    @Test("each namespace has its own open sockets")
    func namespaces() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            _ = try await client.namespace("other")
            #expect(try await client.get(Self.path + "?namespace=nowhere").status == 404)
            let both: HTTPFields = [.scribeNamespace: "other", .contentType: "application/json"]
            let ways = "?namespace=default"
            #expect(try await client.send(.get, Self.path + ways, headers: both).status == 409)
            let close = try await client.send(
                .post, Self.path + "/1/close" + ways, headers: both, body: Data("{}".utf8))
            #expect(close.status == 409)
            let end = try await visit(client) { _ in
                let (others, missed) = (
                    try await client.get(Self.path + "?namespace=other"),
                    try await client.post(Self.path + "/1/close?namespace=other", "{}")
                )
                let closed = try await client.post(Self.path + "/1/close", "")
                #expect(others.text == #"{"sockets":[]}"#)
                #expect(missed.status == 404)
                #expect(closed.status == 200)
            }
            #expect(end.code == 1001)
        }
    }
}
