import Basics
import Engines
import Foundation
import HTTPTypes
import Journal
import ScribeDomain
import ScribeHTTP

/// An exchange of the journal, for lists and timelines.
struct JournalEntry: Sendable {
    let number: Int
    let kind: Exchange.Kind
    let method: String
    let path: String
    /// Operation of a request, or event of a delivery.
    let operation: String
    let status: Int?
    /// nil for an exchange that is still open.
    let milliseconds: Double?
    let fault: String?
    let reason: String
    let client: String
    /// Method and path of the operation that was probably meant; empty for a request that reached one.
    let nearest: String
    /// Begin, by the world's clock.
    var time: Date
    /// Begin, by the machine's clock.
    let startedAt: Date

    /// - Parameter offset: Seconds of the world's clock before the machine's.
    init(_ shown: ShownExchange, offset: TimeInterval) {
        let exchange = shown.exchange
        number = shown.number
        kind = exchange.kind
        method = shown.request.method.rawValue
        // A delivery goes to another server.
        let receiver = kind == .delivery ? shown.request.authority ?? "inbox" : ""
        path = receiver + (shown.path ?? "") + (shown.query.map { "?\($0)" } ?? "")
        operation = Self.operation(shown.operation, of: exchange)
        status = shown.status
        milliseconds = exchange.endedAt.map {
            (max(0, $0.timeIntervalSince(exchange.startedAt)) * 10_000).rounded() / 10
        }
        fault = exchange.fault
        reason = exchange.reason.map { SecretMask.text($0) } ?? ""
        client = exchange.principal?.client.rawValue ?? ""
        nearest = shown.nearest.map { "\($0.method.rawValue) \($0.path)" } ?? ""
        startedAt = exchange.startedAt
        time = startedAt.addingTimeInterval(offset)
    }

    /// Name in lists of a request's operation, or of a delivery's event.
    static func operation(_ documented: String?, of exchange: Exchange) -> String {
        documented ?? exchange.delivery?.event.map { "webhook \($0)" } ?? ""
    }

    var took: String { milliseconds.map { RecordingState.precise($0 / 1000) } ?? "open" }
    /// End, by the world's clock; nil for an exchange that is still open.
    var end: Date? { milliseconds.map { time.addingTimeInterval($0 / 1000) } }
    /// Whether the exchange has failed; a delivery without an answer has a reason.
    var isError: Bool { status.map { $0 >= 400 } ?? (kind == .delivery && !reason.isEmpty) }

    /// Whether a fixture asks for the refusal of this step.
    func isRefused(by fixture: NamedFixture?) -> Bool {
        guard let fixture, isError else { return false }
        return isUpload && fixture.refuses(.upload) || operation.hasPrefix("stop") && fixture.refuses(.stop)
            || operation.hasPrefix("commit") && fixture.refuses(.commit)
    }

    /// Whether the request asked for the state, and was perhaps held.
    var isPoll: Bool { method == "GET" && kind == .request }
    var isUpload: Bool {
        ["PUT", "POST"].contains(method) && (operation == "PutObject" || operation.hasPrefix("upload"))
    }
    /// Signature of an upload, and its client.
    var signer: String {
        let way = method == "POST" ? "" : path.contains("X-Amz-Signature") ? "presigned" : "signed"
        return [way, client.isEmpty ? "" : "by \(client)"].filter { !$0.isEmpty }.joined(separator: " ")
    }
    var isDone: Bool { status.map { $0 < 300 } ?? false }
    /// Name of the file that an upload is about.
    var file: String {
        let name = path.prefix { $0 != "?" }.split(separator: "/").last ?? ""
        return PercentEncoding.decode(name) ?? String(name)
    }

    /// Whether a text is in what a list shows.
    func contains(_ text: String) -> Bool {
        [path, operation, method, client, fault ?? "", reason, status.map(String.init) ?? ""].joined(separator: " ")
            .lowercased().contains(text)
    }

    func model(_ query: String) -> ConsoleViews.Model {
        [
            "number": number, "moment": ConsoleViews.moment(startedAt, isClock: true),
            "method": method.isEmpty ? kind.rawValue : method,
            "path": path.isEmpty ? operation : path, "operation": operation, "client": client,
            "status": status.map(String.init) ?? (milliseconds == nil ? "…" : isError ? "failed" : "kept"),
            "statusClass": status.map { "x\($0 / 100)" } ?? (isError ? "x5" : "t3"),
            "took": took, "fault": fault ?? "", "hasFault": fault != nil, "isSocket": kind == .socket,
            "isDelivery": kind == .delivery, "href": "/\(ConsoleFamily.root)/requests/\(number)\(query)",
            "reason": reason, "nearest": nearest,
        ]
    }
}
