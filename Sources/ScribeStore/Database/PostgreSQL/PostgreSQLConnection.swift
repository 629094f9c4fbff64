import Basics
import Foundation

/// Connection to PostgreSQL in pipeline mode: a statement without a result is only sent, and its error comes with the
/// next result.
///
/// All calls block. One thread at a time uses a connection, which the compiler cannot see.
final class PostgreSQLConnection: @unchecked Sendable {
    /// Statement that was sent, and whose result has not been read.
    private enum Sent {
        case preparation(of: String)
        case statement
        /// Statement whose value ``noted`` keeps.
        case noted
    }

    private let library: LibPQ
    private let handle: OpaquePointer
    private var sent: [Sent] = []
    /// Names of the prepared statements, by their SQL.
    private var prepared: [String: String] = [:]
    private var preparedCount = 0
    /// Rows that the last statement has changed.
    private(set) var changedRows = 0
    /// First value of the last statement that was sent to be noted; nil until its result is read.
    private(set) var noted: String?
    /// Whether the last statement ended a SQL transaction that has only read.
    private var hasEndedReading = false

    /// Longest wait for PostgreSQL's next bytes. A process that stands still, or a machine behind a dead network, keeps
    /// the connection open without an answer.
    private static let patience: Int32 = 15_000
    /// Whether an answer was not awaited: the connection is of no more use.
    private var hasTimedOut = false

    /// Most prepared statements of a connection: the store has some two hundred.
    private static let maxPrepared = 1000

    /// Connects.
    /// - Parameters:
    ///   - url: a URL that libpq reads.
    ///   - setup: statements for the new connection, before anything else.
    /// - Throws: ``PostgreSQLError``.
    init(_ url: String, library: LibPQ, setup: String) throws {
        guard let handle = library.connect(url) else { throw PostgreSQLError.disconnected }
        self.library = library
        self.handle = handle
        guard library.status(handle) == LibPQ.Status.connected else { throw PostgreSQLError.disconnected }
        try execute(setup)
        guard library.enterPipelineMode(handle) == 1 else { throw PostgreSQLError.disconnected }
    }

    deinit { library.finish(handle) }

    /// Opens a connection that is not in pipeline mode, for ``execute(_:)``.
    init(administering url: String, library: LibPQ) throws {
        guard let handle = library.connect(url) else { throw PostgreSQLError.disconnected }
        self.library = library
        self.handle = handle
    }

    /// Reason of a failed connection, in libpq's words, without a password; nil for a connection.
    var problem: String? {
        guard library.status(handle) != LibPQ.Status.connected else { return nil }
        return String(cString: library.errorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Whether no SQL transaction is open.
    var isIdle: Bool { sent.isEmpty || hasEndedReading }
    var isConnected: Bool { !hasTimedOut && library.status(handle) == LibPQ.Status.connected }
    var serverVersion: Int { Int(library.serverVersion(handle)) }

    /// Runs statements without parameters, before pipeline mode.
    /// - Returns: the first column of the rows of the last statement.
    @discardableResult func execute(_ sql: String) throws -> [String?] {
        let result = library.execute(handle, sql)
        defer { library.clear(result) }
        try check(result)
        guard let result else { return [] }
        return (0..<library.rowCount(result)).map { row in
            library.isNull(result, row, 0) == 1 ? nil : String(cString: library.value(result, row, 0))
        }
    }

    /// Sends a statement. Its error comes with the next ``finish()`` or ``rows(_:_:)``.
    /// - Parameter isNoted: whether ``noted`` keeps the first value of its result.
    func send(_ statement: PostgreSQLStatement, _ arguments: SQLArguments = [], isNoted: Bool = false) throws {
        precondition(
            statement.parameterCount == arguments.values.count, "another number of values than in \(statement.sql)")
        let name = try prepared[statement.sql] ?? prepare(statement.sql)
        let values = arguments.values.map(Self.parameter)
        defer { for value in values { value?.bytes.deallocate() } }
        let pointers = values.map { $0.map { UnsafePointer($0.bytes) } }
        let (lengths, formats) = (values.map { $0?.length ?? 0 }, values.map { $0?.isBinary == true ? Int32(1) : 0 })
        guard library.sendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 0) == 1 else {
            throw PostgreSQLError.disconnected
        }
        sent.append(isNoted ? .noted : .statement)
        hasEndedReading = false
        if isNoted { noted = nil }
    }

    /// Ends a SQL transaction that has only read, without a wait for the result, which is read with those of the next
    /// statements.
    func endReading() throws {
        try send(.of("COMMIT"))
        guard library.flush(handle) >= 0 else { throw PostgreSQLError.disconnected }
        hasEndedReading = true
    }

    /// Sends a statement and reads its rows, after the results of all that was sent before.
    func rows(_ statement: PostgreSQLStatement, _ arguments: SQLArguments) throws -> [StoredRow] {
        try send(statement, arguments)
        return try finish()
    }

    /// Reads the results of all statements that were sent.
    /// - Parameter endsWrite: whether the last one ends a write. PostgreSQL counts changed rows when a pipeline ends.
    ///   Its autovacuum never looks at tables whose changes are not counted.
    /// - Returns: the rows of the last one.
    /// - Throws: the first error. Nothing that was sent after the failed statement has run.
    @discardableResult func finish(endsWrite: Bool = false) throws -> [StoredRow] {
        guard !sent.isEmpty else { return [] }
        let isAsked = endsWrite ? library.pipelineSync(handle) : library.sendFlushRequest(handle)
        guard isAsked == 1, library.flush(handle) >= 0 else { throw PostgreSQLError.disconnected }
        let waiting = sent
        sent = []
        hasEndedReading = false
        var rows: [StoredRow] = []
        for (index, one) in waiting.enumerated() {
            let result = try nextResult()
            defer { library.clear(result) }
            do {
                try check(result)
            } catch {
                try abandon(waiting[index...], hasEnded: endsWrite)
                throw error
            }
            switch (one, result) {
            case (.statement, let result?):
                changedRows = Int(String(cString: library.changedRows(result))) ?? 0
                rows = index == waiting.count - 1 ? read(result) : []
            case (.noted, let result?):
                noted = library.rowCount(result) > 0 ? String(cString: library.value(result, 0, 0)) : nil
            case (.preparation, _), (_, nil): break
            }
            // The end of this statement's results.
            library.clear(try nextResult())
        }
        // The end of the pipeline.
        if endsWrite { library.clear(try nextResult()) }
        return rows
    }

    /// Waits for the next result, nil at the end of a statement's results.
    private func nextResult() throws -> OpaquePointer? {
        guard !hasTimedOut else { throw PostgreSQLError.disconnected }
        while library.isBusy(handle) == 1 {
            var wait = pollfd(fd: library.socket(handle), events: Int16(POLLIN), revents: 0)
            let count = poll(&wait, 1, Self.patience)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                hasTimedOut = true
                throw PostgreSQLError.disconnected
            }
            // A failure is an error result, which is next.
            guard library.consumeInput(handle) == 1 else { break }
        }
        return library.getResult(handle)
    }

    /// Reads the rest of a pipeline after an error, so that the connection takes statements again.
    /// - Parameter hasEnded: whether the pipeline's end was sent.
    private func abandon(_ failed: ArraySlice<Sent>, hasEnded: Bool) throws {
        for case .preparation(let sql) in failed { prepared[sql] = nil }
        guard hasEnded || library.pipelineSync(handle) == 1 else { throw PostgreSQLError.disconnected }
        while isConnected {
            let result = try nextResult()
            defer { library.clear(result) }
            if result != nil, library.resultStatus(result) == LibPQ.Status.pipelineSync { return }
        }
        throw PostgreSQLError.disconnected
    }

    private func prepare(_ sql: String) throws -> String {
        precondition(prepared.count < Self.maxPrepared, "statements must not hold values")
        preparedCount += 1
        let name = "s\(preparedCount)"
        guard library.sendPrepare(handle, name, sql, 0, nil) == 1 else { throw PostgreSQLError.disconnected }
        prepared[sql] = name
        sent.append(.preparation(of: sql))
        return name
    }

    private func check(_ result: OpaquePointer?) throws {
        switch library.resultStatus(result) {
        case LibPQ.Status.commandDone, LibPQ.Status.rows: return
        default:
            guard isConnected, let state = library.resultErrorField(result, LibPQ.stateField) else {
                throw PostgreSQLError.disconnected
            }
            throw PostgreSQLError.refused(state: String(cString: state))
        }
    }

    // MARK: Notifications

    /// Descriptor of the connection, for poll(2).
    var socket: Int32 { library.socket(handle) }

    /// Reads the payloads of the notifications that have come from other processes of PostgreSQL than `own`.
    func notifications(exceptOf own: Int32?) throws -> [String] {
        guard library.consumeInput(handle) == 1, isConnected else { throw PostgreSQLError.disconnected }
        var payloads: [String] = []
        while let memory = library.notifies(handle) {
            let notification = memory.load(as: LibPQ.Notification.self)
            if notification.process != own, let payload = notification.payload {
                payloads.append(String(cString: payload))
            }
            library.free(memory)
        }
        return payloads
    }

    // MARK: Values

    /// Value of a parameter, in memory that its user frees.
    private static func parameter(
        _ value: SQLValue
    ) -> (bytes: UnsafeMutablePointer<CChar>, length: Int32, isBinary: Bool)? {
        func copy(_ bytes: some Collection<UInt8>, isBinary: Bool) -> (UnsafeMutablePointer<CChar>, Int32, Bool) {
            let count = bytes.count
            let memory = UnsafeMutablePointer<CChar>.allocate(capacity: count + 1)
            UnsafeMutableRawBufferPointer(start: memory, count: count).copyBytes(from: bytes)
            memory[count] = 0
            return (memory, Int32(count), isBinary)
        }
        switch value {
        case .null: return nil
        case .integer(let number): return copy(String(number).utf8, isBinary: false)
        case .real(let number): return copy(String(number).utf8, isBinary: false)
        case .blob(let data): return copy(data, isBinary: true)
        case .text(let text):
            // PostgreSQL's texts cannot hold U+0000.
            return text.utf8.contains(0)
                ? copy(text.replacing("\0", with: "\u{FFFD}").utf8, isBinary: false) : copy(text.utf8, isBinary: false)
        }
    }

    /// Types of `pg_type.h`.
    private enum TypeID {
        static let boolean: UInt32 = 16
        static let bytes: UInt32 = 17
        static let integers: Set<UInt32> = [20, 21, 23, 26]
        static let reals: Set<UInt32> = [700, 701]
        static let numeric: UInt32 = 1700
    }

    private func read(_ result: OpaquePointer) -> [StoredRow] {
        let count = library.columnCount(result)
        let columns = (0..<count).map { String(cString: library.columnName(result, $0)) }
        let types = (0..<count).map { library.columnType(result, $0) }
        return (0..<library.rowCount(result)).map { row in
            StoredRow(
                columns: columns,
                values: (0..<count).map { column in
                    guard library.isNull(result, row, column) == 0 else { return .null }
                    let bytes = UnsafeBufferPointer(
                        start: library.value(result, row, column), count: Int(library.length(result, row, column)))
                    return Self.value(String(decoding: bytes, as: UTF8.self), types[Int(column)])
                })
        }
    }

    private static func value(_ text: String, _ type: UInt32) -> SQLValue {
        switch type {
        case TypeID.boolean: return .integer(text == "t" ? 1 : 0)
        case TypeID.bytes: return .blob(Data(Hex.decode(text.dropFirst(2)) ?? []))
        case TypeID.numeric: return Int64(text).map(SQLValue.integer) ?? Double(text).map(SQLValue.real) ?? .null
        case _ where TypeID.integers.contains(type): return Int64(text).map(SQLValue.integer) ?? .null
        case _ where TypeID.reals.contains(type): return Double(text).map(SQLValue.real) ?? .null
        default: return .text(text)
        }
    }
}
