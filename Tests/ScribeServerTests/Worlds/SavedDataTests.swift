import Basics
import Foundation
import HTTPTypes
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

/// Data that released versions have saved, as `scripts/save-database` made them with those versions' own programs.
struct SavedDataTests {
    /// The folders in `Tests/Saved`, one for each released version.
    private static let versions: [String] = []

    private struct Saved: Decodable {
        let clientID: String
        /// The way to log in; nil for the client's secret.
        let login: String?
        let path: String
        let headers: [String: String]
        let status: Int
        let body: JSONValue

        enum CodingKeys: String, CodingKey {
            case login, path, headers, status, body
            case clientID = "client_id"
        }
    }

    private static let secrets = [
        "dev-client": "dev-secret", "dev-client-2": "dev-secret-2", "dev-limited": "dev-limited-secret",
    ]

    /// The `login` of a clinician's requests, and the clinician as `scripts/saving/ambient.py` registered them.
    private static let ambient = (login: "suki", subject: "dr-müller")

    /// The private keys of a data folder.
    private static let keys = ["signing-key", "suki-signing-key.pem"]

    /// Members that name the server's own port or hold a ticket, and the times at which those expire.
    private static let links = [
        "upload_url", "presigned_url", "presigned_url_expires_at", "download_url", "download_url_expires_at",
        "edit_url",
    ]

    /// Transactions whose notes the saved version had still to write: the version that opens the data writes them.
    private static let writtenNow = ["/i-slow", "/i-waiting"]

    /// Removes links from an answer, and the text of a note that the server has written just now.
    private static func unchanged(_ json: JSONValue, _ isWrittenNow: Bool) -> JSONValue {
        switch json {
        case .object(var members):
            for name in links { members[name] = nil }
            if isWrittenNow, members["name"] == .string("Clinical Notes") { members["value"] = nil }
            return .object(members.mapValues { unchanged($0, isWrittenNow) })
        case .array(let items): return .array(items.map { unchanged($0, isWrittenNow) })
        default: return json
        }
    }

    @Test("a data folder of a released version is opened, and gives the same answers", arguments: versions)
    func answers(version: String) async throws {
        let folder = projectFile("Tests/Saved/\(version)")
        // Later than anything that was saved: what was left waiting is done at once.
        var server = try TestServer(now: Date(timeIntervalSince1970: 1_798_761_600), onSQLite: true)
        server.configuration.clientsFile = folder.appending(path: "clients.yaml").path
        try FileManager.default.copyItem(
            atPath: folder.appending(path: "data").path, toPath: server.configuration.dataFolder)
        // Git keeps no modes, and a key that others can read ends the start.
        for key in Self.keys {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: "\(server.configuration.dataFolder)/\(key)")
        }
        let saved = try JSONDecoder().decode(
            [Saved].self, from: Data(contentsOf: folder.appending(path: "answers.json")))
        #expect(saved.count > 100)
        try await server.run { anonymous in
            var clients: [String: TestScribeClient] = [:]
            for (id, secret) in Self.secrets { clients[id] = try await anonymous.login(id, secret) }
            clients[Self.ambient.login] = try await anonymous.clinician(Self.ambient.subject)
            for expected in saved {
                var headers = HTTPFields()
                for (name, value) in expected.headers { headers[try #require(HTTPField.Name(name))] = value }
                let client = try #require(clients[expected.login ?? expected.clientID])
                let answer = try await client.get(expected.path, headers: headers)
                #expect(answer.status == expected.status, "\(expected.path)")
                let isWrittenNow = Self.writtenNow.contains { expected.path.hasSuffix($0) }
                #expect(
                    Self.unchanged(answer.json, isWrittenNow) == Self.unchanged(expected.body, isWrittenNow),
                    "\(expected.path)")
            }
        }
    }
}
