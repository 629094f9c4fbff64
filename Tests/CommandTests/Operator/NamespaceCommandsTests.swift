import ArgumentParser
import Foundation
import ScribeDomain
import Testing

@testable import scribe_emulator

struct NamespaceCommandsTests {
    /// The errors of the commands that take a name; nil for a command that accepts the name.
    private static func errors(of name: String) -> [String?] {
        [
            error(of: CreateNamespace.self, [name]), error(of: DeleteNamespace.self, [name]),
            error(of: ResetCommand.self, ["--namespace", name]),
        ]
    }

    private static func error<Command: ParsableCommand>(of command: Command.Type, _ arguments: [String]) -> String? {
        do {
            _ = try command.parse(arguments)
            return nil
        } catch {
            return command.message(for: error)
        }
    }

    @Test(
        "a namespace has 1 to 63 letters, digits and hyphens",
        arguments: ["t-1", "0", "a-", String(repeating: "a", count: 63)])
    func names(name: String) throws {
        #expect(try CreateNamespace.parse([name]).name == name)
        #expect(try DeleteNamespace.parse([name]).name == name)
        #expect(try ResetCommand.parse(["--namespace", name]).options.namespace == name)
    }

    @Test(
        "a namespace name with other characters, or a longer one, is refused before a request is sent",
        arguments: ["", "T-1", "t_1", "t.1", "a/b", "../info", "a b", "ä", "%61", String(repeating: "a", count: 64)])
    func otherNames(name: String) {
        for error in Self.errors(of: name) {
            #expect(error?.hasPrefix("'\(name)' is not the name of a namespace") == true)
        }
    }

    @Test("the ns commands can neither create, delete nor reset the world of the data folder")
    func defaultWorld() {
        for error in Self.errors(of: "default") { #expect(error?.contains("data folder") == true) }
    }

    @Test("ns create and ns reset need no name, and ns delete needs one")
    func withoutName() throws {
        #expect(try CreateNamespace.parse([]).name == nil)
        #expect(try ResetCommand.parse([]).options.namespace == nil)
        #expect(Self.error(of: DeleteNamespace.self, []) != nil)
    }

    @Test("a namespace command sends its request to the root of the server")
    func client() throws {
        let command = try ResetCommand.parse(
            ["--namespace", "t-1", "--url", "http://127.0.0.1:9/", "--admin-token", "operator"])
        let client = try command.client()
        #expect(client.baseURL == "http://127.0.0.1:9")
        #expect(client.namespace?.rawValue == "t-1")
        #expect(client.token == "operator")
        #expect(try command.control.client().namespace == nil)
    }

    @Test("ns create prints the base URL and the credentials")
    func created() throws {
        let answer = Data(
            """
            {"name": "t-1", "path": "/ns/t-1", "url": "http://127.0.0.1:8087/ns/t-1",
             "created_at": "2026-11-25T10:00:00.000Z", "last_used_at": "2026-11-25T10:00:00.000Z", "state": 1,
             "client_id": "ns_t-1_client", "client_secret": "secret", "api_key": "ns_t-1_key",
             "api_key_hex": "0a0b", "partner_id": "ns_t-1_partner"}
            """.utf8)
        let created: CreatedNamespace = try ControlClient.decoded(answer)
        #expect(
            created.lines == [
                "name           t-1", "base URL       http://127.0.0.1:8087/ns/t-1", "client id      ns_t-1_client",
                "client secret  secret", "API key        ns_t-1_key", "API key in hex 0a0b",
            ])
    }

    @Test("ns list prints a line for each namespace, without secrets")
    func listed() throws {
        let answer = Data(
            """
            {"name": "t-1", "path": "/ns/t-1", "url": "http://127.0.0.1:8087/ns/t-1",
             "created_at": "2026-11-25T10:00:00.000Z", "last_used_at": "2026-11-25T10:05:00.000Z", "state": 2,
             "client_id": "ns_t-1_client", "partner_id": "ns_t-1_partner"}
            """.utf8)
        let listed: ListedNamespace = try ControlClient.decoded(answer)
        #expect(
            listed.line == """
                t-1  http://127.0.0.1:8087/ns/t-1  ns_t-1_client  created 2026-11-25T10:00:00.000Z  \
                used 2026-11-25T10:05:00.000Z  state 2
                """)
    }
}
