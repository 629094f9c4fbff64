import Basics
import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// Data on which writes are tried, and what it holds then.
struct TriedData {
    /// State of the transaction at the beginning.
    enum Stage: CaseIterable {
        /// Two files are uploaded and are being transcribed.
        case open
        /// The transaction is committed, and the transcriptions have not ended.
        case committed
    }

    var store: Store { fixture.store }
    /// The engine of a store on PostgreSQL.
    var engine: TriedEngine? { store.database as? TriedEngine }
    /// The transcriptions of both files, in the order of their names.
    let jobs: [Job]
    let fixture: StoreFixture

    init(_ stage: Stage, onSQLite: Bool) async throws {
        let fixture = try StoreFixture(onSQLite: onSQLite, engine: { onSQLite ? $0 : TriedEngine($0) })
        let store = fixture.store
        self.fixture = fixture
        try await store.accounts.register([
            (
                Client(principal: fixture.owner, name: "n", workspace: "w", transactionLimit: 3),
                [UInt8](repeating: 1, count: 32), .file
            )
        ])
        _ = try await store.webhooks.register(
            Self.draft("http://first/"), for: fixture.owner, pauses: [], at: fixture.start)
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        try await fixture.put("2.m4a")
        jobs = [try #require(try await fixture.claim(.transcribe)), try #require(try await fixture.claim(.transcribe))]
        if stage == .committed { try await fixture.commit(["1.m4a", "2.m4a"]) }
        _ = try await store.conversations.begin(Self.conversation("c", fixture))
        try await store.conversations.addMemory(
            Memory(
                id: "m", content: "tea", category: "manual", createdAt: fixture.start, updatedAt: fixture.start,
                conversation: nil), of: fixture.owner)
        try await store.accounts.saveRefreshToken(
            hash: [UInt8](repeating: 1, count: 32), of: fixture.owner.client,
            RefreshPeriod(now: fixture.start, end: fixture.start + 1000))
    }

    /// JSON with its keys in order; another value as it is.
    private static func sorted(_ value: SQLValue) -> String {
        guard case .text(let text) = value, text.hasPrefix("{"),
            let json = try? JSONSerialization.jsonObject(with: Data(text.utf8)),
            let bytes = try? JSONSerialization.data(withJSONObject: json, options: .sortedKeys)
        else { return "\(value)" }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func draft(_ endpoint: String) -> WebhookDraft {
        WebhookDraft(style: .usual, endpoint: .address(endpoint), events: [], signingKey: nil, scheme: "http")
    }

    static func conversation(_ id: String, _ fixture: StoreFixture) -> Conversation {
        Conversation(
            id: id, owner: fixture.owner, source: "phone", language: nil, createdAt: fixture.start,
            startedAt: fixture.start, finishedAt: fixture.start, timeout: 120)
    }

    private static let tables = [
        "clients", "refresh_tokens", "preferences", "conversations", "segments", "memories", "webhooks", "deliveries",
        "documents", "templates", "feedback", "transactions", "chunk_transcripts", "objects", "multipart_uploads",
        "jobs",
    ]
    /// Columns whose values differ from run to run.
    private static let changing: Set<String> = ["id", "file", "owner", "lease_until", "slot"]

    /// All rows, with the names of other rows in place of their numbers.
    func rows() async throws -> [String] {
        try await store.read { db in
            var names: [String: [Int64: String]] = [:]
            for (column, table, name) in [
                ("transaction_id", "transactions", "txn_id"), ("webhook", "webhooks", "endpoint"),
                ("conversation", "conversations", "conversation_id"),
            ] {
                names[column] = Dictionary(
                    uniqueKeysWithValues: try db.rows("SELECT id, \(name) AS name FROM \(table)").map {
                        ($0["id"] as Int64, $0["name"] as String)
                    })
            }
            var found = try Self.tables.flatMap { table in
                try db.rows("SELECT * FROM \(table)").map { row in
                    table
                        + zip(row.columns, row.values).sorted { $0.0 < $1.0 }
                        .filter { !Self.changing.contains($0.0) }
                        .map { column, value in
                            if case .integer(let number) = value, let name = names[column]?[number] {
                                return " \(column)=\(name)"
                            }
                            return " \(column)=\(Self.sorted(value))"
                        }.joined()
                }
            }
            found += try db.rows(
                "SELECT business_id, CAST(sum(objects) AS BIGINT) AS objects, CAST(sum(bytes) AS BIGINT) AS bytes FROM storage GROUP BY business_id"
            ).map { "storage \($0.values)" }
            return found.sorted()
        }
    }
}

/// Write of the store, as one client or job makes it.
struct TriedWrite: Sendable, CustomTestStringConvertible {
    let name: String
    private let body: @Sendable (TriedData) async throws -> String

    init(_ name: String, _ body: @escaping @Sendable (TriedData) async throws -> String) {
        (self.name, self.body) = (name, body)
    }

    var testDescription: String { name }

    /// Makes the write.
    /// - Returns: its result or error as a text.
    func run(on data: TriedData) async -> String {
        do {
            return try await body(data)
        } catch let error as ScribeError {
            return "\(error)"
        } catch {
            // The engine's own words.
            return "refused"
        }
    }

    static let all: [TriedWrite] = [
        TriedWrite("init again") { data in
            if case .created = try await data.fixture.initialise() { "created" } else { "replayed" }
        },
        TriedWrite("init of another") { data in
            if case .created = try await data.fixture.initialise("u") { "created" } else { "replayed" }
        },
        TriedWrite("init of a third, which the client's limit may refuse") { data in
            if case .created = try await data.fixture.initialise("v") { "created" } else { "replayed" }
        },
        TriedWrite("upload of a third file") { data in
            try await data.fixture.replace("3.m4a").count.description
        },
        TriedWrite("another upload of the first file") { data in
            let object = StoredObject(
                bucket: "bucket", key: "260510/t/1.m4a", file: UUID().uuidString, size: 7,
                eTag: String(repeating: "b", count: 32), createdAt: data.fixture.start)
            return try await data.store.audio.put(object, business: data.fixture.owner.business).count.description
        },
        TriedWrite("removal of the second file") { data in
            let files = try await data.store.audio.deleteObjects(
                business: data.fixture.owner.business, bucket: "bucket", keys: ["260510/t/2.m4a"])
            return files.isEmpty ? "none" : "removed"
        },
        TriedWrite("stop") { data in
            let changed = try await data.store.transactions.update(data.fixture.key(), at: data.fixture.start) {
                transaction throws(ScribeError) in try transaction.stop(ChunkList(files: ["1.m4a", "2.m4a"]))
            }
            return "\(changed.userStatus)"
        },
        TriedWrite("commit of two files") { data in
            "\(try await data.store.transactions.commit(data.fixture.key(), ChunkList(files: ["1.m4a", "2.m4a"]), at: data.fixture.start))"
        },
        TriedWrite("commit of three files") { data in
            let list = ChunkList(files: ["1.m4a", "2.m4a", "3.m4a"])
            return "\(try await data.store.transactions.commit(data.fixture.key(), list, at: data.fixture.start))"
        },
        TriedWrite("end of the first transcription") { data in
            try await data.fixture.finish(data.jobs[0], "one")
            return ""
        },
        TriedWrite("end of the second transcription") { data in
            try await data.fixture.finish(data.jobs[1], "two")
            return ""
        },
        TriedWrite("a worker that gives the first transcription back") { data in
            try await data.store.work.postpone(data.jobs[0], until: data.fixture.start, countsAttempt: false)
            return ""
        },
        TriedWrite("removal of the transaction") { data in
            try await data.store.transactions.removeTransaction(data.fixture.key()).count.description
        },
        TriedWrite("archiving of the transaction") { data in
            let changed = try await data.store.transactions.update(data.fixture.key(), at: data.fixture.start) {
                transaction throws(ScribeError) in
                try transaction.archive(by: transaction.owner.user, at: data.fixture.start)
            }
            return "\(changed.userStatus)"
        },
        TriedWrite("correction of the transcript") { data in
            let edit = ResultEdit(target: .template(.init("transcript")), value: "corrected")
            try await data.store.documents.edit(data.fixture.key(), [edit], at: data.fixture.start)
            return ""
        },
        TriedWrite("one more attachment of the context") { data in
            let context = try await data.store.documents.updateContext(of: data.fixture.key()) {
                context throws(ScribeError) in
                guard case .object(var members) = context else { return context }
                members["a\(members.count)"] = .integer(1)
                return .object(members)
            }
            return if case .object(let members) = context { "\(members.count)" } else { "\(context)" }
        },
        TriedWrite("a registered webhook") { data in
            let made = try await data.store.webhooks.register(
                TriedData.draft("http://second/"), for: data.fixture.owner, pauses: [], at: data.fixture.start)
            if case .registered = made { return "registered" }
            return "\(made)"
        },
        TriedWrite("a begun conversation") { data in
            try await data.store.conversations.begin(TriedData.conversation("d", data.fixture)) == nil
                ? "none" : "begun"
        },
        TriedWrite("a segment of the conversation") { data in
            let segment = ConversationSegment(
                id: "s", text: "hello", speaker: "SPEAKER_00", isUser: false, start: 0, end: 0, provider: nil,
                confidence: nil)
            _ = try await data.store.conversations.addSegments(
                [segment], to: "c", urgency: Urgency(), timeout: 120, at: data.fixture.start)
            return ""
        },
        TriedWrite("removal of the conversation") { data in
            "\(try await data.store.conversations.deleteConversation("c", of: data.fixture.owner))"
        },
        TriedWrite("a changed memory") { data in
            "\(try await data.store.conversations.changeMemory("m", of: data.fixture.owner, content: "coffee", at: data.fixture.start))"
        },
        TriedWrite("a removed memory") { data in
            "\(try await data.store.conversations.deleteMemory("m", of: data.fixture.owner))"
        },
        TriedWrite("a refreshed login") { data in
            let outcome = try await data.store.accounts.rotateRefreshToken(
                hash: [UInt8](repeating: 1, count: 32), to: [UInt8](repeating: 2, count: 32),
                RefreshPeriod(now: data.fixture.start, end: data.fixture.start + 1000), grace: 60)
            return outcome == .refused ? "refused" : "refreshed"
        },
        TriedWrite("preferences") { data in
            try await data.store.accounts.setPreferences(
                .object(["header": .string("h")]), of: data.fixture.owner.user, in: data.fixture.owner.business,
                upTo: 1 << 20, at: data.fixture.start)
            return ""
        },
    ]
}
