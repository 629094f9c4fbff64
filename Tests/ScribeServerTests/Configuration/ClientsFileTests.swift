import Basics
import Foundation
import HTTPTypes
import Logging
import ScribeDomain
import ScribeHTTP
import ServerTestSupport
import Suki
import TestSupport
import Testing

@testable import ScribeServer

/// Clients file of a running server, which looks at it every two seconds.
struct ClientsFileTests {
    private static func clients(_ ids: String...) -> String {
        let lines = ids.map {
            "- { client_id: \($0), client_secret: secret-of-\($0), business_id: b-\($0), user_id: u, doctor_id: d }"
        }
        return "clients:\n\(lines.joined(separator: "\n"))\n"
    }

    private let log = LogLines()
    private let server: TestServer
    private let file: String

    /// Server in strict mode, in whose file only the client `first` is.
    init() throws {
        var server = try TestServer()
        file = try server.folder.write(Data(Self.clients("first").utf8), as: "clients.yaml")
        server.configuration.authMode = .strict
        server.configuration.clientsFile = file
        server.log = log
        self.server = server
    }

    /// Swaps the file by rename, as a secret is swapped; removes it without a text.
    private func replace(by text: String?) throws {
        guard let text else { return try FileManager.default.removeItem(atPath: file) }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// Returns when the server has looked at the file so often, and has read it where that was called for.
    private func look(_ count: Int = 2) async throws {
        for _ in 0..<count {
            try await server.manual.waitFor(.clientsFile)
            server.manual.advance(by: .seconds(2))
        }
        try await server.manual.waitFor(.clientsFile)
    }

    private func logIn(_ id: String, _ client: TestScribeClient) async throws -> Int {
        let body = #"{"client_id":"\#(id)","client_secret":"secret-of-\#(id)"}"#
        return try await client.post("/connect-auth/v1/account/login", body).status
    }

    @Test("an entry of a clients file may take values of another by YAML's merge key")
    func merged() throws {
        try replace(
            by: """
                clients:
                  - &base { client_id: a, client_secret: s, workspace: Clinic, api_keys: [12345678] }
                  - { <<: *base, client_id: b, api_keys: [] }
                  - { <<: [{ client_id: c }, *base], api_keys: ~ }
                """)
        let clients = try Seed.clients(inFile: file).clients
        #expect(clients.map(\.client.principal.client.rawValue) == ["a", "b", "c"])
        #expect(clients.map(\.client.workspace) == ["Clinic", "Clinic", "Clinic"])
        #expect(clients.map(\.keys) == [["12345678"], [], []])
    }

    @Test("all wrong entries of a clients file are told of at once, each with its place")
    func allProblems() throws {
        try replace(
            by: """
                clients:
                - { client_id: a }
                - { client_id: b, client_secret: s, api_keys: [x] }
                - { client_id: c, client_secret: s, klient: 1 }
                partners:
                - { partner_id: p }
                """)
        let problem = #expect(throws: StartupProblem.self) { try Seed.clients(inFile: file) }
        let text = try #require(problem.map { "\($0)" })
        for part in [
            "clients, entry 1: 'client_secret' is missing", "clients, entry 2: an api_key has eight characters",
            "clients, entry 3: 'klient' is not known", "partners, entry 1: 'client_id' is missing",
        ] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("the example of a clients file names no client, and without its marks it is a file that can be used")
    func example() throws {
        let example = try String(contentsOf: projectFile("docker/clients.example.yaml"), encoding: .utf8)
        try replace(by: example)
        #expect(throws: StartupProblem.self) { try Seed.clients(inFile: file) }
        try replace(
            by: example.split(separator: "\n").map { $0.hasPrefix("#  ") ? " " + $0.dropFirst(2) : String($0) }
                .joined(separator: "\n"))
        let content = try Seed.clients(inFile: file)
        #expect(content.clients.map(\.client.principal.business.rawValue) == ["b-clinic"])
        #expect(content.partners.map(\.partner.id) == ["hospital"])
    }

    @Test("a client of a file needs an id and a secret; its other ids follow from them")
    func defaults() throws {
        try replace(by: "clients: [{ client_id: clinic, client_secret: s-1 }]")
        let client = try #require(try Seed.clients(inFile: file).clients.first?.client)
        let expected = Principal(businessID: "b-clinic", userID: "u-clinic", doctorID: "o-clinic", clientID: "clinic")
        #expect(client.principal == expected && client.name == "clinic" && client.workspace == "b-clinic")
    }

    @Test("a changed clients file is read again: new clients log in, and removed ones lose their tokens")
    func change() async throws {
        try await server.run { client in
            let first = try await client.login("first", "secret-of-first")
            #expect(try await first.get("/credentials").status == 200)
            #expect(try await logIn("second", client) == 401)
            try replace(by: Self.clients("first", "second"))
            try await look()
            #expect(try await logIn("second", client) == 200)
            #expect(try await first.get("/credentials").status == 200, "a client that stays keeps its token")
            try replace(by: Self.clients("second"))
            try await look()
            #expect(try await first.get("/credentials").status == 401)
            #expect(try await logIn("first", client) == 401)
            #expect(log.lines(with: "the clients file was read again").map { $0.fields["clients"] } == ["2", "1"])
            #expect(!log.all.contains { "\($0)".contains("secret-of") })
        }
    }

    @Test(
        "an invalid clients file changes nothing, and its reason is logged once",
        arguments: [
            ("", "clients.yaml"), ("clients: []\n", "names no client"), ("clients: [{client_id: x}]\n", "is missing"),
            ("clients: [\n", "clients.yaml"), (nil, "cannot be read"),
        ] as [(String?, String)])
    func invalid(text: String?, reason: String) async throws {
        try await server.run { client in
            let first = try await client.login("first", "secret-of-first")
            try replace(by: text)
            try await look()
            let lines = log.lines(with: "the clients stay as they are")
            #expect(lines.map(\.level) == [.error])
            #expect(lines.first?.message.contains(reason) == true, "\(lines)")
            #expect(try await first.get("/credentials").status == 200)
            #expect(try await logIn("first", client) == 200)
            try await look(5)
            #expect(log.lines(with: "the clients stay as they are").count == 1)
            try replace(by: Self.clients("first", "second"))
            try await look()
            #expect(try await logIn("second", client) == 200)
        }
    }

    @Test("a clients file that changes from one look to the next is read when it rests")
    func growingFile() async throws {
        try await server.run { client in
            for count in 1...3 {
                try replace(by: Self.clients("first") + String(repeating: "# more\n", count: count))
                try await look(1)
            }
            #expect(log.lines(with: "the clients").isEmpty)
            try await look(1)
            #expect(log.lines(with: "the clients file was read again").count == 1)
            try await look(3)
            #expect(log.lines(with: "the clients file was read again").count == 1)
        }
    }

    @Test(
        "a secret or API key of the demo in strict mode needs demo-seed: a start ends beyond loopback, and warns on it",
        arguments: ["127.0.0.1", "0.0.0.0"], [true, false, nil] as [Bool?])
    func published(host: String, demoSeed: Bool?) throws {
        for (secret, key) in [
            ("dev-secret", "own-long-key"), ("own", "org_dev_key"), ("dev-limited-secret", "org_dev_key_2"),
        ] {
            try replace(by: "clients: [\(Self.client("mine", secret, key))]")
            var configuration = server.configuration
            (configuration.host, configuration.hasDemoSeed) = (host, demoSeed)
            let lines = LogLines()
            if demoSeed != true, host == "0.0.0.0" {
                #expect(throws: StartupProblem.self) { try ConfiguredClients(configuration) }
            } else {
                try ConfiguredClients(configuration).warn(lines.logger)
            }
            #expect(
                lines.lines(with: "published with the demo").map { $0.fields["clients"] }
                    == (demoSeed != true && host == "127.0.0.1" ? ["mine"] : []))
            configuration.authMode = .lenient
            #expect(throws: Never.self) { try ConfiguredClients(configuration) }
        }
    }

    @Test("beyond loopback a changed clients file and a seed with a secret of the demo are refused")
    func publishedLater() async throws {
        var server = server
        server.configuration.host = "0.0.0.0"
        server.configuration.adminToken = "operator"
        try await server.run { client in
            try replace(by: "clients: [\(Self.client("first", "dev-secret", "own-long-key"))]")
            try await look()
            #expect(log.lines(with: "the clients stay as they are").count == 1)
            #expect(try await logIn("first", client) == 200)
            let operators: HTTPFields = [.authorization: "Bearer operator"]
            func seed(_ secret: String, _ key: String) async throws -> TestAnswer {
                try await client.post(
                    "/__admin/seed",
                    #"{"clients":[{"client_id":"c","client_secret":"\#(secret)","api_keys":["\#(key)"]}]}"#,
                    headers: operators)
            }
            #expect(try await seed("dev-secret-2", "own-long-key").status == 400)
            #expect(try await seed("own", "org_dev_key")["detail"].contains("published with the demo"))
            #expect(try await seed("own", "own-long-key").status == 200)
        }
    }

    private static func client(_ id: String, _ secret: String, _ key: String) -> String {
        "{ client_id: \(id), client_secret: \(secret), business_id: b, user_id: u, doctor_id: d, api_keys: [\(key)] }"
    }
}
