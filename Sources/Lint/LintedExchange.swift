import Basics
import Eka
import Foundation
import HTTPTypes
import Journal
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Exchange of the journal as rules read it.
struct LintedExchange: Sendable {
    let shown: ShownExchange
    let operation: String
    let status: Int?
    let sdk: ClientProfile?
    /// Ids of the recordings that it may be about. The answer to a creation names the one that it made.
    let transactions: Set<String>

    init(_ shown: ShownExchange) {
        self.shown = shown
        operation = shown.operation ?? ""
        status = shown.status
        let fields = shown.request.headerFields
        sdk = .named(flavour: Self.text(fields, "flavour"), userAgent: Self.text(fields, "user-agent"))
        let made = operation.hasPrefix("create") ? Self.json(shown.exchange.responseBody) : nil
        let named = ["session_id", "ambient_session_id", "txn_id"].compactMap {
            made?[$0]?.stringValue ?? Self.text(fields, $0)
        }
        let stored = operation == "PostObject" ? shown.response?.headerFields[.location] : nil
        let folders = stored?.split(separator: "/").map { PercentEncoding.decode($0) ?? String($0) } ?? []
        transactions = Set(shown.transactions + named + folders)
    }

    private static func text(_ fields: HTTPFields, _ name: String) -> String? {
        HTTPField.Name(name).flatMap { fields[$0] }
    }

    var number: Int { shown.number }
    var method: HTTPRequest.Method { shown.request.method }
    var kind: Exchange.Kind { shown.exchange.kind }
    var startedAt: Date { shown.exchange.startedAt }
    /// The end; for an exchange that is open, its start.
    var endedAt: Date { shown.exchange.endedAt ?? startedAt }
    var isOpen: Bool { shown.exchange.end == nil }
    var isDone: Bool { status.map { (200..<300).contains($0) } ?? false }
    var isRefused: Bool { status.map { (400..<500).contains($0) } ?? false }
    /// Whether the client cannot know what became of the request.
    var isLost: Bool { status.map { $0 >= 500 } ?? (shown.exchange.end == .cut) }
    /// Whether the server failed, or a fault rule broke the answer off.
    var isFailed: Bool { isLost && (status != nil || shown.exchange.fault != nil) }
    /// Last component of the path; of a form that was stored, of the object's.
    var file: String {
        let path = operation == "PostObject" ? shown.response?.headerFields[.location] : shown.path
        let last = (path ?? "").split(separator: "/").last.map(String.init) ?? ""
        return PercentEncoding.decode(last[...]) ?? last
    }

    /// First value of a field of the request's head, as it was sent. It may be a secret.
    func header(_ name: String) -> String? { Self.text(shown.request.headerFields, name) }

    /// First value of a parameter of the query, as it was sent. It may be a secret.
    func parameter(_ name: String) -> String? { shown.parameters(name).sent.first }

    /// The program that sent it, by what it says of itself.
    var program: String {
        ["client-id", "flavour", "user-agent"].map { header($0) ?? "" }.joined(separator: "\n")
    }

    /// The program with its token. A refused request has no other trace of who sent it. Signatures differ each time.
    var caller: String {
        let token = header("authorization").flatMap { SigningScope.isSignature($0) ? nil : $0 } ?? header("auth")
        return "\(program)\n\(token ?? "")"
    }

    /// Body of the request, if it is JSON and was kept whole.
    var json: JSONValue? { Self.json(shown.requestBody) }

    /// Body of the answer, if it is JSON and was kept whole.
    var answer: JSONValue? { Self.json(shown.exchange.responseBody) }

    private static func json(_ body: RecordedBody?) -> JSONValue? {
        guard let body, !body.isTruncated, let text = body.text else { return nil }
        return JSONDocument.untrusted(Data(text.readableBytesView), as: JSONValue.self)
    }

    /// Whether another request had the same body, as far as the journal can tell: a refused one may not have been read.
    func hasBody(of other: LintedExchange) -> Bool {
        if let content, let others = other.content { return content == others }
        let lengths = [self, other].compactMap { $0.header("content-length") }
        return lengths.count < 2 || lengths[0] == lengths[1]
    }

    /// Text or digest of the request's body; nil if the journal does not have it all.
    private var content: String? {
        guard let body = shown.exchange.requestBody else { return "" }
        guard body.isWhole, !body.isTruncated else { return nil }
        return body.text.map { String(decoding: $0.readableBytesView, as: UTF8.self) } ?? body.md5 ?? body.sha256
    }
}

/// Numbers of exchanges, to ask whether one lies between two others.
struct ExchangeNumbers {
    private let numbers: [Int]

    init(_ exchanges: [LintedExchange], where isMeant: (LintedExchange) -> Bool) {
        numbers = exchanges.filter(isMeant).map(\.number).sorted()
    }

    func hasOne(between one: LintedExchange, and next: LintedExchange) -> Bool {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] > one.number { high = middle } else { low = middle + 1 }
        }
        return low < numbers.count && numbers[low] < next.number
    }
}

extension [LintedExchange] {
    func of(_ operations: Set<String>) -> [LintedExchange] { filter { operations.contains($0.operation) } }
}
