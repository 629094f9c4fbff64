import Basics
import Foundation
import NIOCore
import NIOPosix
import ScribeDomain

/// PostgreSQL database: connections on threads of their own, and writes that take their scopes as locks.
final class PostgreSQLDatabase: StoreEngine {
    /// Connections of a process. More were slower (scale-out.md, section 3).
    static let connectionCount = 8
    /// Attempts at a write that loses against others.
    private static let maxAttempts = 12
    /// Time from the request of a write or read in which it is done again when its connection ends.
    private static let patience: TimeAmount = .seconds(15)
    /// Longest wait of a health check.
    private static let checkTime: TimeAmount = .seconds(3)

    let address: PostgreSQLAddress
    private let library: LibPQ
    private let sink: (any ChangeSink)?
    let threads: NIOThreadPool
    /// Number of writes of this process.
    let writes = LockedValue(0)
    private let notifications: PostgreSQLNotifications?
    /// Connections that no thread uses.
    private let idle = LockedValue<[PostgreSQLConnection]>([])
    private let queue = ScopeQueue()
    /// Whether the last attempt found no server.
    private let isDown = LockedValue(false)
    /// The health check that is under way.
    private let check = LockedValue<Task<Bool, Never>?>(nil)
    private let hasClosed = LockedValue(false)

    /// Connects, and creates or migrates the schema. Blocking.
    /// - Parameters:
    ///   - isShared: whether other processes are told of changes.
    ///   - sink: receives the changes of this process and of others.
    /// - Throws: ``Store/Problem``.
    init(_ address: PostgreSQLAddress, isShared: Bool, sink: (any ChangeSink)?) throws {
        guard let library = LibPQ.shared else {
            throw Store.Problem.noPostgreSQL(reason: "libpq, PostgreSQL's client library, is not installed")
        }
        self.address = address
        self.library = library
        self.sink = sink
        try PostgreSQLSchema.prepare(address, library)
        threads = NIOThreadPool(numberOfThreads: Self.connectionCount)
        threads.start()
        notifications = isShared ? sink.map { PostgreSQLNotifications(address, library, receiver: $0) } : nil
        notifications?.start()
    }

    deinit {
        threads.shutdownGracefully { _ in }
        notifications?.end()
    }

    // MARK: Connections

    private func take() throws -> PostgreSQLConnection {
        if let connection = idle.withLock({ $0.popLast() }) { return connection }
        return try PostgreSQLConnection(address.url, library: library, setup: address.setup)
    }

    /// Runs `body` with a connection, which is kept if it is usable after it.
    private func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
        let connection = try take()
        var isStale = false
        defer {
            if connection.isConnected, connection.isIdle, !isStale { idle.withLock { $0.append(connection) } }
        }
        do {
            return try body(connection)
        } catch let error as PostgreSQLError where error.isStalePlan {
            isStale = true
            throw error
        }
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard !isClosed else { throw ScribeError.storageUnavailable(cause: "the store is closed") }
        // A cancellation of the task does not interrupt the work.
        return try await StorageFailure.translatingErrors {
            try await withCheckedThrowingContinuation { continuation in
                threads.submit { state in
                    continuation.resume(
                        with: Result {
                            guard state == .active else { throw PostgreSQLError.disconnected }
                            return try body()
                        })
                }
            }
        }
    }

    // MARK: Writes

    func write<Value: Sendable>(
        in scopes: [WriteScope], body: @escaping @Sendable (any StoreSession, inout [Change]) throws -> Value
    ) async throws -> Value {
        let end = NIODeadline.now() + Self.patience
        return try await queue.run(in: scopes) {
            try await onThread { [self] in
                let (value, changes) = try transaction(in: scopes, until: end) { db in
                    var changes: [Change] = []
                    let value = try body(db, &changes)
                    return (value, changes)
                }
                if let sink { for change in changes { sink.publish(change) } }
                if !changes.isEmpty { notifications?.send(changes) }
                countWrite()
                return value
            }
        }
    }

    func writeBlocking(_ body: (any StoreSession) throws -> Void) throws {
        try transaction(in: [], until: .now() + Self.patience) { try body($0) }
    }

    private func transaction<Value>(
        in scopes: [WriteScope], until end: NIODeadline, _ body: (PostgreSQLSession) throws -> Value
    ) throws -> Value {
        var attempts = 0
        return try reconnecting(until: end) {
            while true {
                attempts += 1
                do {
                    return try withConnection { try attempt(on: $0, scopes, body) }
                } catch let error as PostgreSQLError where error.isConflict && attempts < Self.maxAttempts {
                    Thread.sleep(forTimeInterval: Double(min(attempts, 6)) * 0.002)
                }
            }
        }
    }

    /// Repeats `body` while PostgreSQL cannot be reached: a server that starts again takes connections within seconds.
    ///
    /// Statements whose tables another version has changed are prepared anew.
    private func reconnecting<Value>(until end: NIODeadline, _ body: () throws -> Value) throws -> Value {
        var attempts = 0.0
        while true {
            // A request that has waited in the queue until its end does not begin while PostgreSQL is down.
            if NIODeadline.now() >= end, isDown.withLock({ $0 }) { throw PostgreSQLError.disconnected }
            do {
                let value = try body()
                isDown.withLock { $0 = false }
                return value
            } catch let error as PostgreSQLError where error == .disconnected || error.isStalePlan {
                isDown.withLock { $0 = error == .disconnected }
                idle.withLock { $0 = [] }
                guard NIODeadline.now() < end else { throw error }
                attempts += 1
                // The thread is one of this engine's own, and has nothing else to do.
                Thread.sleep(forTimeInterval: min(attempts, 6) * 0.05)
            }
        }
    }

    private func attempt<Value>(
        on connection: PostgreSQLConnection, _ scopes: [WriteScope], _ body: (PostgreSQLSession) throws -> Value
    ) throws -> Value {
        let session = PostgreSQLSession(connection: connection)
        do {
            try session.run("BEGIN")
            try PostgreSQLLocks.take(scopes, in: session)
            let value = try body(session)
            if connection.noted == nil { try connection.finish() }
            let number = connection.noted
            do {
                // After a statement that fails, PostgreSQL skips the rest of a pipeline, the commit too.
                try session.run("COMMIT")
                try connection.finish(endsWrite: true)
            } catch PostgreSQLError.disconnected {
                guard try number.map(hasCommitted) ?? false else { throw PostgreSQLError.disconnected }
            }
            return value
        } catch {
            try? session.run("ROLLBACK")
            _ = try? connection.finish()
            throw error
        }
    }

    /// Whether PostgreSQL has stored a write whose answer was lost.
    /// - Parameter number: the number of its SQL transaction.
    /// - Throws: ``PostgreSQLError/unknownCommit`` if PostgreSQL does not know, or cannot be asked.
    private func hasCommitted(_ number: String) throws -> Bool {
        for attempt in 1...20 {
            Thread.sleep(forTimeInterval: 0.05 * Double(attempt))
            guard let connection = try? PostgreSQLConnection(address.url, library: library, setup: address.setup),
                let row = try? PostgreSQLSession(connection: connection)
                    .row("SELECT pg_xact_status(CAST(? AS xid8)) AS status", [number])
            else { continue }
            switch row["status"] as String? {
            case "committed": return true
            case "aborted": return false
            default: continue
            }
        }
        throw PostgreSQLError.unknownCommit
    }

    // MARK: Reads

    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value {
        let end = NIODeadline.now() + Self.patience
        return try await onThread { [self] in
            try reconnecting(until: end) {
                try withConnection { connection in
                    let session = PostgreSQLSession(connection: connection)
                    do {
                        try session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                        let value = try body(session)
                        try connection.endReading()
                        return value
                    } catch {
                        try? session.run("ROLLBACK")
                        _ = try? connection.finish()
                        throw error
                    }
                }
            }
        }
    }

    /// Whether PostgreSQL answers within three seconds. Simultaneous checks share one question.
    func isReachable() async -> Bool {
        let asked = check.withLock { check in
            if let check { return check }
            let made = Task {
                let isReachable = (try? await read { try $0.row("SELECT 1 AS one") != nil }) ?? false
                self.check.withLock { $0 = nil }
                return isReachable
            }
            check = made
            return made
        }
        let answer = NIOSingletons.posixEventLoopGroup.next().makePromise(of: Bool.self)
        let late = answer.futureResult.eventLoop.scheduleTask(in: Self.checkTime) { answer.succeed(false) }
        Task {
            answer.succeed(await asked.value)
            late.cancel()
        }
        return (try? await answer.futureResult.get()) ?? false
    }

    /// Settings of PostgreSQL that risk acknowledged data, as they are now.
    func risks() async throws -> [String] {
        try await read { session in
            let row = try session.row(
                """
                SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commits,
                    current_setting('synchronous_standby_names') AS standbys
                """)
            return [
                ("fsync", "off", "fsync is off in PostgreSQL: a power cut may lose acknowledged data"),
                (
                    "commits", "off",
                    "synchronous_commit is off in PostgreSQL: a kill of PostgreSQL may lose acknowledged data"
                ),
                ("standbys", "", "PostgreSQL has no synchronous standby: the loss of its disk loses acknowledged data"),
            ].filter { row?[$0.0] == $0.1 }.map(\.2)
        }
    }

    func size(in session: any StoreSession) throws -> Int {
        try session.row("SELECT pg_database_size(current_database()) AS bytes")?["bytes"] ?? 0
    }

    // MARK: End

    func close() throws {
        hasClosed.withLock { $0 = true }
        try threads.syncShutdownGracefully()
        notifications?.end()
        idle.withLock { $0 = [] }
    }

    var isClosed: Bool { hasClosed.withLock { $0 } }
}
