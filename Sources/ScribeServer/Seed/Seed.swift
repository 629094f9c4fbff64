import Documents
import Engines
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import Suki
import Yams

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

    /// Client in a clients file.
    private struct ClientEntry: Decodable {
        let client: Client
        let secret: String
        let keys: [String]

        var login: ClientWithSecrets { ClientWithSecrets(client: client, secret: secret, keys: keys) }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case id = "client_id"
            case secret = "client_secret"
            case business = "business_id"
            case user = "user_id"
            case doctor = "doctor_id"
            case name, workspace
            case limit = "transaction_limit"
            case keys = "api_keys"
        }

        init(from decoder: any Decoder) throws {
            try decoder.refuseUnknownKeys(CodingKeys.allCases)
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) throws -> String { try container.decode(String.self, forKey: key) }
            func text(_ key: CodingKeys, orElse usual: String) throws -> String {
                try container.decodeIfPresent(String.self, forKey: key) ?? usual
            }
            let id = try text(.id)
            let principal = Principal(
                businessID: try text(.business, orElse: "b-\(id)"), userID: try text(.user, orElse: "u-\(id)"),
                doctorID: try text(.doctor, orElse: "o-\(id)"), clientID: id)
            client = Client(
                principal: principal,
                name: try text(.name, orElse: id),
                workspace: try text(.workspace, orElse: principal.business.rawValue),
                transactionLimit: try container.decodeIfPresent(Int.self, forKey: .limit)
            )
            secret = try text(.secret)
            keys = try container.decodeIfPresent([String].self, forKey: .keys) ?? []
            if keys.contains(where: { $0.utf8.count < 8 || !$0.isPlain || $0.contains(" ") }) {
                throw UnusableEntry(problem: "an api_key has eight characters at least, and no space")
            }
            if [principal.client.rawValue, principal.business.rawValue, secret].contains("") {
                throw UnusableEntry(problem: "client_id, client_secret and business_id must not be empty")
            }
            if let limit = client.transactionLimit, limit < 0 {
                throw UnusableEntry(problem: "a transaction_limit cannot be negative")
            }
        }
    }

    private struct ClientsFile: Decodable {
        let clients: [ClientEntry]
        let partners: [PartnerEntry]

        private enum CodingKeys: CodingKey, CaseIterable { case clients, partners }

        var content: ClientsFileContent { ClientsFileContent(clients: clients.map(\.login), partners: partners) }

        init(from decoder: any Decoder) throws {
            try decoder.refuseUnknownKeys(CodingKeys.allCases)
            let file = try decoder.container(keyedBy: CodingKeys.self)
            let listed = try file.decode([TriedEntry<ClientEntry>].self, forKey: .clients)
            let listedPartners = try file.decodeIfPresent([TriedEntry<PartnerEntry>].self, forKey: .partners) ?? []
            (clients, partners) = (listed.compactMap(\.entry), listedPartners.compactMap(\.entry))
            var problems = (listed.compactMap(\.error) + listedPartners.compactMap(\.error)).map(Seed.explanation)
            let ids = clients.map(\.client.principal.client)
            for (index, id) in ids.enumerated() where ids[..<index].contains(id) {
                problems.append("the file: the client_id '\(id)' is there twice")
            }
            let keys = clients.flatMap(\.keys)
            if Set(keys).count < keys.count { problems.append("the file: an api_key is there twice") }
            if Set(partners.map(\.partner.id)).count < partners.count {
                problems.append("the file: a partner_id is there twice")
            }
            guard problems.isEmpty else { throw UnusableFile(problems: problems) }
        }
    }

    private struct SectionEntry: Decodable {
        let id: SectionID
        let title: String
        let desc: String
        let format: TemplateSection.Style
        let example: String
        let facts: [ClinicalFact.Kind]

        var section: TemplateSection {
            TemplateSection(
                id: id, title: title, summary: desc, style: format, example: example, isDefault: true, facts: facts
            )
        }
    }

    private struct TemplateEntry: Decodable {
        struct Heading: Decodable {
            let title: String
            let facts: [ClinicalFact.Kind]
        }

        let id: TemplateID
        let name: String
        let desc: String
        private let format: Format
        let bucket: Template.Bucket
        let sections: [Heading]?
        let sectionIDs: [SectionID]?

        /// Format in which notes can be written.
        private struct Format: Decodable {
            let value: Template.Format

            init(from decoder: any Decoder) throws {
                let word = try decoder.singleValueContainer().decode(String.self)
                value = Template.Format(word)
                guard Template.Format.written.contains(value) else {
                    throw UnusableEntry(problem: "'\(word)' is no format of a note")
                }
            }
        }

        enum CodingKeys: String, CodingKey {
            case id, name, desc, format, bucket, sections
            case sectionIDs = "section_ids"
        }

        func template(of known: [TemplateSection]) -> Template {
            let ids = sectionIDs ?? []
            let layouts =
                sections?.map { Template.Section(title: $0.title, facts: $0.facts) }
                ?? ids.compactMap { id in known.first { $0.id == id }?.layout }
            return Template(
                id: id, name: name, summary: desc, format: format.value, bucket: bucket, sections: layouts,
                sectionIDs: ids
            )
        }
    }

    private struct TemplatesFile: Decodable {
        let sections: [SectionEntry]
        let templates: [TemplateEntry]
    }

    /// Reads the demo clients. Requests without a token of this server act for the first one.
    static func demoClients() throws -> ClientsFileContent { try shippedClients.get() }

    // Each shipped file is parsed once, also in a process with many servers.
    private static let shippedClients = Result {
        try decode(ClientsFile.self, document_clients().bytes, "seed/clients.yaml").content
    }
    private static let shippedTemplates = Result {
        let file = try decode(TemplatesFile.self, document_templates().bytes, "seed/templates.yaml")
        let sections = file.sections.map(\.section)
        return TemplateCatalogue(file.templates.map { $0.template(of: sections) }, sections: sections)
    }
    private static let shippedFixtures = Result {
        try decode(FixturesFile.self, document_fixtures().bytes, "seed/fixtures.yaml").fixtures
    }

    static func clients(inFile path: String) throws -> ClientsFileContent {
        try decode(ClientsFile.self, bytes(of: path), path).content
    }

    static func templates() throws -> TemplateCatalogue { try shippedTemplates.get() }

    static func fixtures(overriddenBy path: String?) throws -> FixtureSet {
        let shipped = try shippedFixtures.get()
        guard let path else { return shipped }
        return shipped.overridden(by: try decode(FixturesFile.self, bytes(of: path), path).fixtures)
    }

    static func bytes(of path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw StartupProblem.unreadableSeed(path: path, reason: "cannot be read")
        }
        return [UInt8](data)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8], _ path: String) throws -> Value {
        do {
            return try YAMLDecoder().decode(type, from: YAMLText.node(of: Data(bytes)) ?? "")
        } catch {
            throw StartupProblem.unreadableSeed(path: path, reason: explanation(of: error))
        }
    }

    private static func explanation(of error: any Error) -> String {
        if let mistake = error as? YAMLText.Mistake { return "it is not YAML: \(mistake)" }
        if error is UnusableEntry { return "the file: \(error)" }
        if let error = error as? UnusableFile { return error.problems.joined(separator: "; ") }
        guard let error = error as? DecodingError else { return "\(error)" }
        let path = { (context: DecodingError.Context) in
            let keys = context.codingPath.map { $0.intValue.map { "entry \($0 + 1)" } ?? $0.stringValue }
            return keys.isEmpty ? "the file" : keys.joined(separator: ", ")
        }
        return switch error {
        case .keyNotFound(let key, let context): "\(path(context)): '\(key.stringValue)' is missing"
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            "\(path(context)) must \(form(of: type))"
        case .dataCorrupted(let context):
            if let inner = context.underlyingError as? UnusableEntry {
                "\(path(context)): \(inner)"
            } else {
                "\(path(context)): \(context.debugDescription)"
            }
        @unknown default: "\(error)"
        }
    }

    /// The end of "… must …" for a type: the form of its values in YAML.
    private static func form(of type: Any.Type) -> String {
        switch type {
        case is Node.Mapping.Type: "hold keys and values"
        case is Node.Sequence.Type: "be a list"
        case is Node.Scalar.Type, is String.Type: "be a single value"
        case is Bool.Type: "be true or false"
        case is Int.Type: "be a whole number"
        case is Double.Type: "be a number"
        default: "be of another kind"
        }
    }
}
