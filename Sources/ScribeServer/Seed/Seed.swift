import Documents
import Engines
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import Suki

/// Reader of the files in `seed/`, which are compiled in, and of the user's files of the same form.
enum Seed {
    /// Client with its secrets.
    struct ClientWithSecrets: Sendable {
        let client: Client
        let secret: String
        /// Keys for APIs without a login.
        let keys: [String]
        var origin = ClientOrigin.file
    }

    /// Content of a clients file.
    struct ClientsFileContent: Sendable {
        var clients: [ClientWithSecrets] = []
        var partners: [PartnerEntry] = []
    }

    private static let clientKeys = [
        "client_id", "client_secret", "business_id", "user_id", "doctor_id", "name", "workspace", "transaction_limit",
        "api_keys",
    ]

    private static func client(_ entry: FileFields) throws -> ClientWithSecrets {
        let id = try entry.text("client_id")
        func text(_ key: String, orElse usual: String) throws -> String { try entry.text(ifPresent: key) ?? usual }
        let principal = Principal(
            businessID: try text("business_id", orElse: "b-\(id)"), userID: try text("user_id", orElse: "u-\(id)"),
            doctorID: try text("doctor_id", orElse: "o-\(id)"), clientID: id)
        let client = Client(
            principal: principal, name: try text("name", orElse: id),
            workspace: try text("workspace", orElse: principal.business.rawValue),
            transactionLimit: try entry.integer(ifPresent: "transaction_limit"))
        let secret = try entry.text("client_secret")
        let keys = try entry.texts(ifPresent: "api_keys") ?? []
        if keys.contains(where: { $0.utf8.count < 8 || !$0.isPlain || $0.contains(" ") }) {
            throw UnusableEntry(problem: "an api_key has eight characters at least, and no space")
        }
        if [principal.client.rawValue, principal.business.rawValue, secret].contains("") {
            throw UnusableEntry(problem: "client_id, client_secret and business_id must not be empty")
        }
        if let limit = client.transactionLimit, limit < 0 {
            throw UnusableEntry(problem: "a transaction_limit cannot be negative")
        }
        return ClientWithSecrets(client: client, secret: secret, keys: keys)
    }

    private static func clients(_ file: FileFields) throws -> ClientsFileContent {
        let listed = try file.required("clients", file.entries("clients", known: clientKeys, client))
        let listedPartners = try file.entries("partners", known: PartnerEntry.keys, PartnerEntry.init) ?? []
        let content = ClientsFileContent(
            clients: listed.compactMap { try? $0.get() }, partners: listedPartners.compactMap { try? $0.get() })
        var problems = (listed.compactMap(\.failure) + listedPartners.compactMap(\.failure)).map { "\($0)" }
        let ids = content.clients.map(\.client.principal.client)
        for (index, id) in ids.enumerated() where ids[..<index].contains(id) {
            problems.append("the file: the client_id '\(id)' is there twice")
        }
        let keys = content.clients.flatMap(\.keys)
        if Set(keys).count < keys.count { problems.append("the file: an api_key is there twice") }
        if Set(content.partners.map(\.partner.id)).count < content.partners.count {
            problems.append("the file: a partner_id is there twice")
        }
        guard problems.isEmpty else { throw UnusableFile(problems: problems) }
        return content
    }

    /// Reads the demo clients. Requests without a token of this server act for the first one.
    static func demoClients() throws -> ClientsFileContent { try shippedClients.get() }

    // Each shipped file is parsed once, also in a process with many servers.
    private static let shippedClients = Result {
        try read(document_clients().bytes, "seed/clients.yaml", clientsFileKeys, clients)
    }
    private static let shippedTemplates = Result {
        try read(document_templates().bytes, "seed/templates.yaml", ["sections", "templates"], TemplateCatalogue.init)
    }
    private static let shippedFixtures = Result {
        try read(document_fixtures().bytes, "seed/fixtures.yaml", FixturesFile.keys, FixturesFile.init).fixtures
    }
    private static let clientsFileKeys = ["clients", "partners"]

    static func clients(inFile path: String) throws -> ClientsFileContent {
        try read(bytes(of: path), path, clientsFileKeys, clients)
    }

    static func templates() throws -> TemplateCatalogue { try shippedTemplates.get() }

    static func fixtures(overriddenBy path: String?) throws -> FixtureSet {
        let shipped = try shippedFixtures.get()
        guard let path else { return shipped }
        return shipped.overridden(by: try read(bytes(of: path), path, FixturesFile.keys, FixturesFile.init).fixtures)
    }

    static func bytes(of path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw StartupProblem.unreadableSeed(path: path, reason: "cannot be read")
        }
        return [UInt8](data)
    }

    private static func read<Value>(
        _ bytes: [UInt8], _ path: String, _ known: [String], _ read: (FileFields) throws -> Value
    ) throws -> Value {
        do {
            return try read(FileFields(YAMLText.node(of: Data(bytes)), known: known))
        } catch {
            let reason =
                switch error {
                case let mistake as YAMLText.Mistake: "it is not YAML: \(mistake)"
                case let entry as UnusableEntry: "the file: \(entry.problem)"
                case let file as UnusableFile: file.problems.joined(separator: "; ")
                default: "\(error)"
                }
            throw StartupProblem.unreadableSeed(path: path, reason: reason)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
