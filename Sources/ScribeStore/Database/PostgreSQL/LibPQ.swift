import Foundation

/// Functions of libpq, PostgreSQL's client library.
///
/// The library is looked up at run time: linked, it would cost every start 4 ms, also of servers on SQLite.
struct LibPQ: Sendable {
    typealias Text = UnsafePointer<CChar>
    typealias Texts = UnsafePointer<UnsafePointer<CChar>?>

    let connect: @convention(c) (Text) -> OpaquePointer? = Self.function("PQconnectdb")
    let status: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQstatus")
    let errorMessage: @convention(c) (OpaquePointer) -> Text = Self.function("PQerrorMessage")
    let serverVersion: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQserverVersion")
    let finish: @convention(c) (OpaquePointer) -> Void = Self.function("PQfinish")
    let socket: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQsocket")
    let execute: @convention(c) (OpaquePointer, Text) -> OpaquePointer? = Self.function("PQexec")
    let enterPipelineMode: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQenterPipelineMode")
    let pipelineSync: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQpipelineSync")
    let sendFlushRequest: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQsendFlushRequest")
    let flush: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQflush")
    let sendPrepare: @convention(c) (OpaquePointer, Text, Text, Int32, UnsafePointer<UInt32>?) -> Int32 =
        Self.function("PQsendPrepare")
    let sendQueryPrepared:
        @convention(c) (
            OpaquePointer, Text, Int32, Texts?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, Int32
        ) -> Int32 = Self.function("PQsendQueryPrepared")
    let getResult: @convention(c) (OpaquePointer) -> OpaquePointer? = Self.function("PQgetResult")
    let isBusy: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQisBusy")
    let consumeInput: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQconsumeInput")
    let notifies: @convention(c) (OpaquePointer) -> UnsafeMutableRawPointer? = Self.function("PQnotifies")
    let free: @convention(c) (UnsafeMutableRawPointer) -> Void = Self.function("PQfreemem")
    let resultStatus: @convention(c) (OpaquePointer?) -> Int32 = Self.function("PQresultStatus")
    let resultErrorField: @convention(c) (OpaquePointer?, Int32) -> Text? = Self.function("PQresultErrorField")
    let clear: @convention(c) (OpaquePointer?) -> Void = Self.function("PQclear")
    let rowCount: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQntuples")
    let columnCount: @convention(c) (OpaquePointer) -> Int32 = Self.function("PQnfields")
    let columnName: @convention(c) (OpaquePointer, Int32) -> Text = Self.function("PQfname")
    let columnType: @convention(c) (OpaquePointer, Int32) -> UInt32 = Self.function("PQftype")
    let isNull: @convention(c) (OpaquePointer, Int32, Int32) -> Int32 = Self.function("PQgetisnull")
    let value: @convention(c) (OpaquePointer, Int32, Int32) -> UnsafePointer<UInt8> = Self.function("PQgetvalue")
    let length: @convention(c) (OpaquePointer, Int32, Int32) -> Int32 = Self.function("PQgetlength")
    let changedRows: @convention(c) (OpaquePointer) -> Text = Self.function("PQcmdTuples")

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

    /// The library; nil if this machine has none, or one before version 14, whose newest function is looked for.
    static let shared = symbol("PQsendFlushRequest").map { _ in LibPQ() }

    /// The library's file: of Linux, and of Homebrew on Apple silicon and on Intel.
    private static let files = [
        "libpq.so.5", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
    ]

    private nonisolated(unsafe) static let handle = files.lazy.compactMap { dlopen($0, RTLD_NOW) }.first

    private init() {}

    private static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        // Without a handle, dlsym would search the program itself.
        handle.flatMap { dlsym($0, name) }
    }

    private static func function<Function>(_ name: String) -> Function {
        guard let symbol = Self.symbol(name) else { fatalError("libpq has no \(name)") }
        return unsafeBitCast(symbol, to: Function.self)
    }
}
