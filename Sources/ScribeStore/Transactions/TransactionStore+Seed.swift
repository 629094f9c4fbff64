package import Foundation
package import ScribeDomain

/// Rows that the operator API adds to a running server.
package struct SeedRows: Sendable {
    /// Client with the hashes of its secret and of its API keys, 32 bytes each.
    package struct SeededClient: Sendable {
        package let client: Client
        package let secretHash: [UInt8]
        package let keyHashes: [[UInt8]]

        package init(client: Client, secretHash: [UInt8], keyHashes: [[UInt8]]) {
            self.client = client
            self.secretHash = secretHash
            self.keyHashes = keyHashes
        }
    }

    /// Finished recording: a new transaction with its documents, its audio and its recognised speech.
    package struct Recording: Sendable {
        let transaction: Transaction
        let documents: [ResultDocument]
        let audio: StoredObject
        let speech: RecognisedSpeech

        package init(
            _ transaction: Transaction, _ documents: [ResultDocument], audio: StoredObject, speech: RecognisedSpeech
        ) {
            self.transaction = transaction
            self.documents = documents
            self.audio = audio
            self.speech = speech
        }
    }

    package var clients: [SeededClient] = []
    package var providers: [Provider] = []
    package var sections: [(section: TemplateSection, business: BusinessID)] = []
    package var templates: [(template: CustomTemplate, business: BusinessID)] = []
    package var recordings: [Recording] = []
    /// Digests of the files that the rows are from, each of which is applied once.
    package var files: [String] = []

    package init() {}
}

/// The rows of a seed are refused; nothing was stored.
package enum SeedProblem: Error, Hashable, Sendable {
    /// The id belongs to a client of another origin.
    case clientOfOtherOrigin(ClientID, ClientOrigin)
    /// Another client has the API key.
    case keyOfOtherClient(ClientID)
    /// The id belongs to another business.
    case templateOfOtherBusiness(String)
    /// The business has as many templates or sections as it may have.
    case tooManyTemplates
    /// The partner has as many clinicians as it may have.
    case tooManyProviders(String)
    /// The rows of one of the files are there already.
    case isApplied
}

extension TransactionStore {
    /// Adds the rows of a seed, all or none. Clients of the operator API and clinicians that are there are replaced;
    /// templates and sections that are there stay. The recordings are new, and are committed.
    /// - Throws: ``SeedProblem``; as ``initialise(_:documents:replays:)``; ``ScribeError/storageQuotaExceeded``.
    package func add(_ seed: SeedRows, at now: Date) async throws {
        let partners = Set(seed.providers.map(\.partner)).count
        let recordings = seed.recordings.flatMap { recording in
            [WriteScope.transaction(recording.transaction.key), .client(recording.transaction.owner.client)]
        }
        try await database.write(in: [.clients] + recordings) { db, changes in
            for file in seed.files {
                let row = try db.row(
                    """
                    INSERT INTO generations (name, value) VALUES (?, 1) ON CONFLICT (name) DO NOTHING
                    RETURNING value
                    """, [Self.seedFile + file])
                guard row != nil else { throw SeedProblem.isApplied }
            }
            for client in seed.clients { try Self.add(client, in: db) }
            if !seed.clients.isEmpty { try AccountStore.countClients(in: db) }
            for provider in seed.providers { try Self.replace(provider, at: now, in: db) }
            for (section, business) in seed.sections {
                try TemplateStore.addSeeded(section, to: business, at: now, in: db)
            }
            for (template, business) in seed.templates {
                try TemplateStore.addSeeded(template, to: business, at: now, in: db)
            }
            if partners > 0 { try Self.requireRoom(forProvidersOf: seed, in: db) }
            for recording in seed.recordings {
                let key = recording.transaction.key
                _ = try self.initialise(
                    recording.transaction, documents: recording.documents, replays: false, in: db, &changes)
                _ = try store.audio.put(recording.audio, heard: recording.speech, in: key, in: db, &changes)
                let file = AudioLocation.split(key: recording.audio.key).name
                try self.commit(key, ChunkList(files: [file]), at: now, in: db, &changes)
            }
        }
    }

    /// Prefix of the names of applied files in the table `generations`.
    private static let seedFile = "seed file "

    /// Digests of the files whose rows were added with ``SeedRows/files``.
    package func appliedFiles() async throws -> Set<String> {
        try await read { db in
            let rows = try db.rows("SELECT name FROM generations WHERE name LIKE ?", [Self.seedFile + "%"])
            return Set(rows.map { String(($0["name"] as String).dropFirst(Self.seedFile.count)) })
        }
    }

    private static func add(_ seeded: SeedRows.SeededClient, in db: any StoreSession) throws {
        let id = seeded.client.principal.client
        if let origin = try db.row("SELECT origin FROM clients WHERE client_id = ?", [id.rawValue])?.origin,
            origin != .api
        {
            throw SeedProblem.clientOfOtherOrigin(id, origin)
        }
        try AccountStore.save(seeded.client, seeded.secretHash, .api, in: db)
        try db.run("DELETE FROM client_keys WHERE client_id = ?", [id.rawValue])
        for hash in seeded.keyHashes {
            let taken = try db.row("SELECT client_id FROM client_keys WHERE key_hash = ?", [Data(hash)])
            guard taken == nil else { throw SeedProblem.keyOfOtherClient(id) }
            try db.insert(into: "client_keys").values(["key_hash": Data(hash), "client_id": id.rawValue])
        }
    }

    private static func replace(_ provider: Provider, at now: Date, in db: any StoreSession) throws {
        // The clinician keeps the user id, by which recordings are found.
        try db.run(
            """
            INSERT INTO providers (partner_id, subject, user_id, organisation, specialty, created_at)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (partner_id, subject) DO UPDATE
                SET organisation = excluded.organisation, specialty = excluded.specialty
            """,
            [
                provider.partner, provider.subject, provider.user.rawValue, provider.organisation,
                provider.specialty, now.milliseconds,
            ])
    }

    private static func requireRoom(forProvidersOf seed: SeedRows, in db: any StoreSession) throws {
        for partner in Set(seed.providers.map(\.partner)) {
            let row = try db.row("SELECT count(*) AS count FROM providers WHERE partner_id = ?", [partner])
            guard row?["count"] ?? 0 <= Limits.clinicians else { throw SeedProblem.tooManyProviders(partner) }
        }
    }

    /// Clients of the operator API, each with the hash of its secret, and the hashes of their API keys.
    package func seededClients() async throws -> [SeedRows.SeededClient] {
        try await read { db in
            try db.rows("SELECT * FROM clients WHERE origin = 'api' ORDER BY client_id").map { row in
                let keys = try db.rows(
                    "SELECT key_hash FROM client_keys WHERE client_id = ?", [row["client_id"] as String])
                return SeedRows.SeededClient(
                    client: Client(row: row), secretHash: [UInt8](row["secret_hash"] as Data),
                    keyHashes: keys.map { [UInt8]($0["key_hash"] as Data) })
            }
        }
    }
}

extension StoredRow {
    fileprivate var origin: ClientOrigin? { ClientOrigin(rawValue: self["origin"]) }
}
