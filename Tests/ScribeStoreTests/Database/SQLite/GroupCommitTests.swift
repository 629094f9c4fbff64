import Basics
import GRDB
import ObjectStorage
import ScribeDomain
import SystemPackage
import TestSupport
import Testing

@testable import ScribeStore

struct GroupCommitTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store(at: .file("\(folder.path)/scribe.sqlite", .normal))
        try store.pool.write { try $0.execute(sql: "CREATE TABLE numbers (n INTEGER PRIMARY KEY CHECK (n >= 0))") }
    }

    func numbers() async throws -> Set<Int> {
        try await store.pool.read { try Int.fetchSet($0, sql: "SELECT n FROM numbers") }
    }

    @Test("concurrent writes are all committed, and each returns its own result")
    func parallel() async throws {
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<500 {
                group.addTask {
                    try await store.sqlite.writes.write { db in
                        try db.execute(sql: "INSERT INTO numbers VALUES (?)", arguments: [number])
                        return number
                    }
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(results == Set(0..<500))
        #expect(try await numbers() == Set(0..<500))
    }

    @Test("a failed write is rolled back completely, and fails no other write of its group")
    func failures() async throws {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let outcome = await Result {
                        try await store.sqlite.writes.write { db in
                            try db.execute(sql: "INSERT INTO numbers VALUES (?)", arguments: [number])
                            if number % 3 == 0 { throw ScribeError.transactionNotFound }
                            if number % 5 == 0 { try db.execute(sql: "INSERT INTO numbers VALUES (-1)") }
                        }
                    }
                    #expect((try? outcome.get()) != nil || number % 3 == 0 || number % 5 == 0)
                }
            }
        }
        #expect(try await numbers() == Set((0..<200).filter { $0 % 3 != 0 && $0 % 5 != 0 }))
    }

    @Test("no write is acknowledged before its commit is flushed, and all fail with a flush that fails")
    func flush() async throws {
        let flushed = LockedValue(0)
        let writes = GroupCommit(store.pool) {
            flushed.withLock { $0 += 1 }
            if flushed.withLock({ $0 > 1 }) { throw Errno.ioError }
        }
        try await writes.write { try $0.execute(sql: "INSERT INTO numbers VALUES (1)") }
        #expect(flushed.withLock { $0 } == 1)
        await #expect(throws: (any Error).self) {
            try await writes.write { try $0.execute(sql: "INSERT INTO numbers VALUES (2)") }
        }
        #expect(flushed.withLock { $0 } == 2)
        #expect(try await numbers() == [1, 2], "what is not acknowledged may be stored")
    }

    @Test("the other writes of a group run once beside a thousand refused writes")
    func refusals() async throws {
        let runs = LockedValue<[Int: Int]>([:])
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let outcome = await Result {
                        try await store.sqlite.writes.write { db in
                            runs.withLock { $0[number, default: 0] += 1 }
                            guard number.isMultiple(of: 2) else { throw ScribeError.transactionNotFound }
                            try db.execute(sql: "INSERT INTO numbers VALUES (?)", arguments: [number])
                        }
                    }
                    #expect((try? outcome.get()) != nil || !number.isMultiple(of: 2))
                }
            }
        }
        #expect(runs.withLock { $0.count } == 2_000)
        #expect(runs.withLock { $0.values.allSatisfy { $0 == 1 } })
        #expect(try await numbers() == Set((0..<2_000).filter { $0.isMultiple(of: 2) }))
    }

    @Test("a single write that fails is rolled back and throws its error, and the next one succeeds")
    func failsAlone() async throws {
        await #expect(throws: ScribeError.transactionNotFound) {
            try await store.sqlite.writes.write { db in
                try db.execute(sql: "INSERT INTO numbers VALUES (1)")
                throw ScribeError.transactionNotFound
            }
        }
        try await store.sqlite.writes.write { try $0.execute(sql: "INSERT INTO numbers VALUES (2)") }
        #expect(try await numbers() == [2])
    }

    @Test("a rollback of the shared transaction fails its writes, and later writes succeed")
    func rollback() async throws {
        async let first: Void = store.sqlite.writes.write { db in
            try db.execute(sql: "INSERT INTO numbers VALUES (1)")
            // What SQLite does by itself when the disk is full.
            try db.execute(sql: "ROLLBACK")
        }
        async let second: Void = store.sqlite.writes.write { try $0.execute(sql: "INSERT INTO numbers VALUES (2)") }
        _ = try? await first
        _ = try? await second
        try await store.sqlite.writes.write { try $0.execute(sql: "INSERT INTO numbers VALUES (3)") }
        let found = try await numbers()
        #expect(found.contains(3))
        #expect(!found.contains(1))
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
