import Basics
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// Body of `POST /__admin/seed`, read and checked as far as it can be without the store.
struct SeedBody {
    struct SeededClient {
        let client: Client
        let secret: String
        let keys: [String]
    }

    struct User {
        let partner: String
        let subject: String
        let organisation: String
        let specialty: String?
        /// Place in the body.
        let fields: JSONFields
    }

    struct Consultation {
        let client: ClientID
        let id: String?
        let transcript: String
        let templates: [TemplateID]
        let patient: JSONValue?
        let fields: JSONFields
    }

    struct OwnTemplate {
        let client: ClientID
        let id: String?
        let title: String
        let summary: String?
        let sectionIDs: [SectionID]
        let sections: [TemplateSection]
        let fields: JSONFields
    }

    static let members = ["clients", "users", "templates", "consultations"]
    /// Most entries of each list.
    private static let most = 1000
    /// Shortest API key, in bytes.
    private static let shortestKey = 8

    let clients: [SeededClient]
    let users: [User]
    let templates: [OwnTemplate]
    let consultations: [Consultation]

    /// - Parameter refused: secrets and API keys that a client may not have.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` that names the entry.
    init(_ body: JSONFields, refusing refused: Set<String>) throws(ScribeError) {
        func entries(_ name: String, _ allowed: [String]) throws(ScribeError) -> [JSONFields] {
            try body.objects(name, atMost: Self.most, allowed: allowed)
        }
        clients = try entries(
            "clients",
            [
                "client_id", "client_secret", "business_id", "user_id", "doctor_id", "name", "workspace",
                "transaction_limit", "api_keys",
            ]
        ).map { fields throws(ScribeError) in try Self.client(fields, refused) }
        users = try entries("users", ["partner_id", "provider_id", "provider_org_id", "provider_specialty"])
            .map(Self.user)
        templates = try entries(
            "templates", ["client_id", "template_id", "title", "desc", "section_ids", "sections"]
        ).map(Self.template)
        consultations = try entries(
            "consultations", ["client_id", "txn_id", "transcript", "template_ids", "patient_details"]
        ).map(Self.consultation)
        try requireDistinct()
    }

    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for what two of them have.
    init(joining bodies: [SeedBody]) throws(ScribeError) {
        clients = bodies.flatMap(\.clients)
        users = bodies.flatMap(\.users)
        templates = bodies.flatMap(\.templates)
        consultations = bodies.flatMap(\.consultations)
        try requireDistinct()
    }

    private func requireDistinct() throws(ScribeError) {
        try Self.requireDistinct(clients.map(\.client.principal.client.rawValue), "client_id")
        try Self.requireDistinct(clients.flatMap(\.keys), "api_keys")
        try Self.requireDistinct(templates.compactMap(\.id), "template_id")
        try Self.requireDistinct(
            consultations.compactMap { each in each.id.map { "\(each.client)\u{0}\($0)" } }, "txn_id")
    }

    private static func requireDistinct(_ texts: [String], _ name: String) throws(ScribeError) {
        guard Set(texts).count == texts.count else {
            throw .invalidRequest(field: name, problem: "must not be there twice")
        }
    }

    private static func client(_ fields: JSONFields, _ refused: Set<String>) throws(ScribeError) -> SeededClient {
        let id = try fields.required("client_id")
        guard NamespaceName(markedIn: id) == nil else {
            throw fields.problem("client_id", "must not begin like that of a namespace's own client")
        }
        let business = try fields.text("business_id") ?? "b-\(id)"
        let keys = try fields.texts("api_keys", atMost: 20)
        for key in keys
        where key.utf8.count < shortestKey || key.contains(" ") || NamespaceName(markedIn: key) != nil {
            throw fields.problem("api_keys", "must have keys of \(shortestKey) characters at least, without a space")
        }
        let secret = try fields.required("client_secret")
        guard refused.isDisjoint(with: keys + [secret]) else {
            throw fields.problem("client_secret", "and api_keys must not be those that are published with the demo")
        }
        let principal = Principal(
            businessID: business, userID: try fields.text("user_id") ?? "u-\(id)",
            doctorID: try fields.text("doctor_id") ?? "o-\(id)", clientID: id)
        return SeededClient(
            client: Client(
                principal: principal, name: try fields.text("name") ?? id,
                workspace: try fields.text("workspace") ?? business,
                transactionLimit: try fields.integer("transaction_limit", from: 0, to: .max)),
            secret: secret, keys: keys)
    }

    private static func user(_ fields: JSONFields) throws(ScribeError) -> User {
        User(
            partner: try fields.required("partner_id"), subject: try fields.required("provider_id"),
            organisation: try fields.required("provider_org_id"), specialty: try fields.text("provider_specialty"),
            fields: fields)
    }

    private static func template(_ fields: JSONFields) throws(ScribeError) -> OwnTemplate {
        let client = ClientID(try fields.required("client_id"))
        let sections = try fields.objects(
            "sections", atMost: Limits.sectionsOfTemplate,
            allowed: ["section_id", "title", "desc", "format", "example"]
        ).map(section)
        let ids = try fields.texts("section_ids", atMost: Limits.sectionsOfTemplate).map { SectionID($0) }
        guard !ids.isEmpty || !sections.isEmpty else { throw fields.problem("section_ids", "is missing") }
        return OwnTemplate(
            client: client, id: try fields.text("template_id"), title: try fields.required("title"),
            summary: try fields.text("desc", upTo: Limits.sectionText, lines: true),
            sectionIDs: ids + sections.map(\.id), sections: sections, fields: fields)
    }

    private static func section(_ fields: JSONFields) throws(ScribeError) -> TemplateSection {
        let example = try fields.text("example", upTo: Limits.sectionText, lines: true) ?? ""
        let format = try fields.text("format") ?? TemplateSection.Style(of: example).rawValue
        guard let style = TemplateSection.Style(rawValue: format) else {
            throw fields.problem("format", "must be P or B")
        }
        return TemplateSection(
            id: SectionID(try fields.required("section_id")), title: try fields.required("title"),
            summary: try fields.text("desc", upTo: Limits.sectionText, lines: true) ?? "", style: style,
            example: example)
    }

    private static func consultation(_ fields: JSONFields) throws(ScribeError) -> Consultation {
        let id = try fields.text("txn_id")
        guard id.map(TransactionID.isValidFolder) ?? true else {
            throw fields.problem("txn_id", "must have no slash")
        }
        let patient = fields["patient_details"]
        guard patient?.isObject ?? true else { throw fields.problem("patient_details", "must be an object") }
        return Consultation(
            client: ClientID(try fields.required("client_id")), id: id,
            transcript: try fields.required("transcript", upTo: Limits.transcript, lines: true),
            templates: try fields.texts("template_ids", atMost: Limits.templates).map { TemplateID($0) },
            patient: patient, fields: fields)
    }
}
