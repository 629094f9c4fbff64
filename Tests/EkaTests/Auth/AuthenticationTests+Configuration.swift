import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What the configuration says of who may do what.
extension AuthenticationTests {
    @Test("the clients of clients.yaml may log in")
    func clientsFile() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.clientsFile = try server.folder.write(
            Data("clients: [{client_id: c, client_secret: s, business_id: b, user_id: u, doctor_id: o}]".utf8),
            as: "clients.yaml"
        )
        try await server.run { client in
            let answer = try await client.login("c", "s").initialise("t")
            #expect(try answer["b_id"] == "b")
        }
    }

    @Test(
        "a server that the network reaches starts without verified tokens only with an explicit setting",
        arguments: [AuthMode.lenient, .open])
    func network(mode: AuthMode) async throws {
        var server = try TestServer()
        server.configuration.host = "0.0.0.0"
        server.configuration.authMode = mode
        await #expect(throws: StartupProblem.self) { try await server.run { _ in } }
        server.configuration.allowsUnverifiedTokensFromNetwork = true
        try await server.run { client in
            let answer = try await client.get("/livez")
            #expect(answer.status == 200)
        }
    }

    @Test(
        "every init of a client with a used-up quota is refused with the error envelope, and no message at the top",
        .covers("C-07", "C-08", "C-09", "C-10"))
    func quota() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login("dev-limited", "dev-limited-secret")
            for id in ["a", "b"] {
                let answer = try await client.initialise(id)
                #expect(answer.status == 400)
                #expect(try answer["status"] == "failed")
                #expect(try answer["error.code"] == "txn_limit_exceeded")
                #expect(answer.has("error.message"))
                #expect(answer.has("error.display_message"))
                #expect(!answer.has("message"))
                #expect(try answer["txn_id"] == id)
                #expect(try answer["b_id"] == "b-demo-limited")
            }
        }
    }
}
