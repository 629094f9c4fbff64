import Foundation

/// Functions of libpq, PostgreSQL's client library.
///
/// The library is looked up at run time: linked, it would cost every start 4 ms, also of servers on SQLite.
struct LibPQ: Sendable {
    typealias Text = UnsafePointer<CChar>
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

    let connect: @convention(c) (Text) -> OpaquePointer?
    let status: @convention(c) (OpaquePointer) -> Int32
    let errorMessage: @convention(c) (OpaquePointer) -> Text
    let serverVersion: @convention(c) (OpaquePointer) -> Int32
    let finish: @convention(c) (OpaquePointer) -> Void
    let socket: @convention(c) (OpaquePointer) -> Int32
    let execute: @convention(c) (OpaquePointer, Text) -> OpaquePointer?
    let enterPipelineMode: @convention(c) (OpaquePointer) -> Int32
    let pipelineSync: @convention(c) (OpaquePointer) -> Int32
    let sendFlushRequest: @convention(c) (OpaquePointer) -> Int32
    let flush: @convention(c) (OpaquePointer) -> Int32
    let sendPrepare: @convention(c) (OpaquePointer, Text, Text, Int32, UnsafePointer<UInt32>?) -> Int32
    let sendQueryPrepared:
        @convention(c) (
            OpaquePointer, Text, Int32, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32
    let getResult: @convention(c) (OpaquePointer) -> OpaquePointer?
    let isBusy: @convention(c) (OpaquePointer) -> Int32
    let consumeInput: @convention(c) (OpaquePointer) -> Int32
    let notifies: @convention(c) (OpaquePointer) -> UnsafeMutableRawPointer?
    let free: @convention(c) (UnsafeMutableRawPointer) -> Void
    let resultStatus: @convention(c) (OpaquePointer?) -> Int32
    let resultErrorField: @convention(c) (OpaquePointer?, Int32) -> Text?
    let clear: @convention(c) (OpaquePointer?) -> Void
    let rowCount: @convention(c) (OpaquePointer) -> Int32
    let columnCount: @convention(c) (OpaquePointer) -> Int32
    let columnName: @convention(c) (OpaquePointer, Int32) -> Text
    let columnType: @convention(c) (OpaquePointer, Int32) -> UInt32
    let isNull: @convention(c) (OpaquePointer, Int32, Int32) -> Int32
    let value: @convention(c) (OpaquePointer, Int32, Int32) -> UnsafePointer<UInt8>
    let length: @convention(c) (OpaquePointer, Int32, Int32) -> Int32
    let changedRows: @convention(c) (OpaquePointer) -> Text

    /// `PGnotify` of libpq-fe.h: a notification, of which the program reads the payload.
    struct Notification {
        let channel: UnsafeMutablePointer<CChar>?
        let process: Int32
        let payload: UnsafeMutablePointer<CChar>?
        let next: UnsafeMutableRawPointer?
    }

    /// Values of `ConnStatusType` and `ExecStatusType` in libpq-fe.h.
    enum Status {
        static let connected: Int32 = 0
        static let commandDone: Int32 = 1
        static let rows: Int32 = 2
        static let pipelineSync: Int32 = 10
    }

    /// Field of an error that holds its SQLSTATE: `PG_DIAG_SQLSTATE`.
    static let stateField = Int32(UInt8(ascii: "C"))

    /// The library; nil if this machine has none.
    static let shared = LibPQ()

    /// The library's file: of Linux, and of Homebrew on Apple silicon and on Intel.
    private static let files = [
        "libpq.so.5", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
    ]

    private init?() {
        guard let handle = Self.files.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { return nil }
        let symbols = Self.names.map { dlsym(handle, $0) }
        guard !symbols.contains(nil) else { return nil }
        var next = 0
        func function<Function>() -> Function {
            defer { next += 1 }
            return unsafeBitCast(symbols[next], to: Function.self)
        }
        connect = function()
        status = function()
        errorMessage = function()
        serverVersion = function()
        finish = function()
        socket = function()
        execute = function()
        enterPipelineMode = function()
        pipelineSync = function()
        sendFlushRequest = function()
        flush = function()
        sendPrepare = function()
        sendQueryPrepared = function()
        getResult = function()
        isBusy = function()
        consumeInput = function()
        notifies = function()
        free = function()
        resultStatus = function()
        resultErrorField = function()
        clear = function()
        rowCount = function()
        columnCount = function()
        columnName = function()
        columnType = function()
        isNull = function()
        value = function()
        length = function()
        changedRows = function()
    }

    /// Names of the functions, in the order of the members.
    private static let names = [
        "PQconnectdb", "PQstatus", "PQerrorMessage", "PQserverVersion", "PQfinish", "PQsocket", "PQexec",
        "PQenterPipelineMode", "PQpipelineSync", "PQsendFlushRequest", "PQflush", "PQsendPrepare",
        "PQsendQueryPrepared", "PQgetResult", "PQisBusy", "PQconsumeInput", "PQnotifies", "PQfreemem", "PQresultStatus",
        "PQresultErrorField", "PQclear", "PQntuples", "PQnfields", "PQfname", "PQftype", "PQgetisnull", "PQgetvalue",
        "PQgetlength", "PQcmdTuples",
    ]
}
