import Foundation
import ScribeDomain
import Transcription
import Yams

/// What a fresh server knows: the files in `seed/`, and those that the configuration adds.
enum Seed {
    /// A client as YAML spells it.
    private struct ClientEntry: Decodable {
        let client_id: String
        let client_secret: String
        let business_id: String
        let user_id: String
        let doctor_id: String
        let name: String?
        let workspace: String?
        let transaction_limit: Int?

        var clientAndSecret: (client: Client, secret: String) {
            let principal = Principal(
                business: BusinessID(business_id), user: UserID(user_id), doctor: DoctorID(doctor_id),
                client: ClientID(client_id)
            )
            let client = Client(
                principal: principal, name: name ?? client_id, workspace: workspace ?? business_id,
                transactionLimit: transaction_limit
            )
            return (client, client_secret)
        }
    }

    private struct ClientsFile: Decodable {
        let clients: [ClientEntry]
    }

    private struct TemplatesFile: Decodable {
        let templates: [Template]
    }

    /// The demo clients. The first is who requests without a token of ours act for.
    static func demoClients() throws -> [(client: Client, secret: String)] {
        try decode(ClientsFile.self, PackageResources.clients_yaml, "seed/clients.yaml").clients.map(\.clientAndSecret)
    }

    static func clients(inFile path: String) throws -> [(client: Client, secret: String)] {
        try decode(ClientsFile.self, bytes(of: path), path).clients.map(\.clientAndSecret)
    }

    static func templates() throws -> [Template] {
        try decode(TemplatesFile.self, PackageResources.templates_yaml, "seed/templates.yaml").templates
    }

    static func fixtures(overriddenBy path: String?) throws -> FixtureSet {
        let shipped = try decode(FixtureSet.self, PackageResources.fixtures_yaml, "seed/fixtures.yaml")
        guard let path else { return shipped }
        return shipped.overridden(by: try decode(FixtureSet.self, bytes(of: path), path))
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw StartupProblem.unreadableSeed(path: path, reason: "cannot be read")
        }
        return [UInt8](data)
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8], _ path: String) throws -> Value {
        do {
            return try YAMLDecoder().decode(type, from: Data(bytes))
        } catch {
            throw StartupProblem.unreadableSeed(path: path, reason: "\(error)")
        }
    }
}
