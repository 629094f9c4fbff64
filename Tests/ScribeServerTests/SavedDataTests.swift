import Foundation
import HTTPTypes
import ScribeDomain
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

/// Data that earlier versions have saved, as `scripts/save-database` made them with those versions' own programs.
struct SavedDataTests {
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

    /// Transactions whose notes an earlier version had still to write.
    private static let writtenNow = ["/i-slow", "/i-waiting"]

    /// Without what is said otherwise on purpose since: links, who one is, which templates were asked for, why
    /// everything failed, bundles, the default sections, the sentences behind a section of an ambient note, and the
    /// order of a session's documents.
    private static func unchanged(_ json: JSONValue, _ isWrittenNow: Bool) -> JSONValue {
        switch json {
        case .object(var members):
            let links = [
                "upload_url", "presigned_url", "presigned_url_expires_at", "download_url", "download_url_expires_at",
                "edit_url", "identity", "idp_id", "document_path", "confidence", "audio_length", "integrations",
                "supported_integrations", "source_transcripts",
            ]
            for name in links { members[name] = nil }
            members["request_templates"] = nil
            // A bundle is made of the transcript each time, by the rules of the day.
            members["fhir"] = nil
            members["entry"] = nil
            if isWrittenNow, members["name"] == .string("Clinical Notes") { members["value"] = nil }
            // In history each is told by two names now.
            if case .object(var patient)? = members["patient_details"] {
                for name in ["name", "gender", "username", "biologicalSex"] { patient[name] = nil }
                members["patient_details"] = .object(patient)
            }
            if members["code"] == .string("output_not_available") { return .string("output_not_available") }
            if members["schema_version"] != nil, case .array(let documents)? = members["documents"] {
                members["documents"] = .array(
                    documents.sorted { ($0["document_id"]?.stringValue ?? "") < ($1["document_id"]?.stringValue ?? "") }
                )
            }
            return .object(members.mapValues { unchanged($0, isWrittenNow) })
        // The sections that the program comes with are its own, and have changed.
        case .array(let items):
            return .array(items.filter { $0["default"] != .bool(true) }.map { unchanged($0, isWrittenNow) })
        default: return json
        }
    }

    @Test("a data folder of an earlier version is opened, and gives the same answers", arguments: ["0.1.0", "e0c60e0"])
    func answers(version: String) async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Saved/\(version)")
        // Later than anything that was saved: what was left waiting is done at once.
        var server = try TestServer(now: Date(timeIntervalSince1970: 1_798_761_600), onSQLite: true)
        let clientsFile = folder.appending(path: "clients.yaml").path
        if FileManager.default.fileExists(atPath: clientsFile) { server.configuration.clientsFile = clientsFile }
        try FileManager.default.copyItem(
            atPath: folder.appending(path: "data").path, toPath: server.configuration.dataFolder)
        // Git keeps no modes, and a key that others can read ends the start.
        for key in Self.keys.map({ "\(server.configuration.dataFolder)/\($0)" })
        where FileManager.default.fileExists(atPath: key) {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        }
        let saved = try JSONDecoder().decode(
            [Saved].self, from: Data(contentsOf: folder.appending(path: "answers.json")))
        #expect(saved.count > 100)
        try await server.run { anonymous in
            var clients: [String: TestScribeClient] = [:]
            for (id, secret) in Self.secrets { clients[id] = try await anonymous.login(id, secret) }
            if saved.contains(where: { $0.login == Self.ambient.login }) {
                clients[Self.ambient.login] = try await anonymous.clinician(Self.ambient.subject)
            }
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
