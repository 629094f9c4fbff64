import Basics
import Foundation
package import HTTPTypes
import Hummingbird
package import Journal
import NIOCore
import ScribeDomain
import ScribeRuntime

/// An exchange of the journal as operators see it: without credentials, and with the operation it was, or was meant
/// to be.
package struct ShownExchange: Sendable {
    package let number: Int
    package let exchange: Exchange
    /// Head of the request. Its path has no prefix of a namespace.
    package let request: HTTPRequest
    package let response: HTTPResponse?
    /// Operation of the request; nil for a path of none.
    package let operation: String?
    /// Path without prefix and query; nil if the journal keeps none.
    package let path: String?
    /// Query without a question mark; nil without one.
    package let query: String?
    private let index: JournalIndex

    init(_ number: Int, _ exchange: Exchange, _ index: JournalIndex) {
        self.number = number
        self.exchange = exchange
        let request = exchange.request
        (self.request, response) = (request, exchange.response)
        self.index = index
        let parts = request.path?.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts?.first.map { SecretMask.text(String($0)) }
        query = parts.flatMap { $0.count > 1 ? SecretMask.text(String($0[1])) : nil }
        operation = index.operation(of: exchange, request.method, parts?.first.map(String.init))
    }

    /// Body of the request; nil for an empty one.
    package var requestBody: RecordedBody? { exchange.requestBody.flatMap { $0.size > 0 ? $0 : nil } }

    package var status: Int? { response?.status.code }

    /// Whether the request reached no operation.
    package var isUnmatched: Bool {
        // A fault rule refuses before the route is known.
        guard exchange.kind != .delivery, exchange.fault == nil, let status, status >= 400 else { return false }
        return isUnrouted || operation == nil
    }

    /// Whether no route has the path. Paths without a family count as objects of S3.
    private var isUnrouted: Bool {
        guard exchange.route == nil else { return false }
        return exchange.operation == nil
            || !RequestAddress(Request(head: request, body: RequestBody(buffer: ByteBuffer()))).isSigned
    }

    /// The operation that was probably meant; nil for a request that reached one.
    package var nearest: OperationIndex.Operation? {
        guard isUnmatched, let path, response != nil else { return nil }
        return index.nearest(request.method.rawValue, path)
    }

    /// Ids that may be a transaction's.
    package var transactions: [String] {
        if let transaction = exchange.transaction { return [transaction.rawValue] }
        let request = Request(head: self.request, body: RequestBody(buffer: ByteBuffer()))
        return (path ?? "")[...].split(ascii: "/").map { PercentEncoding.decode(String($0)) ?? String($0) }
            + ["session_id", "txn_id", "txnid"].compactMap { request.query.text($0) }
    }

    /// Values of a field of the request's head, one for each time that it is there: as shown, and as sent.
    package func headers(_ name: String) -> (shown: [String], sent: [String]) {
        let fields = HTTPField.Name(name).map(request.values(of:)) ?? []
        return (fields.map(SecretMask.value(of:)), fields.map(\.value))
    }

    /// Values of a parameter of the query: as shown, and as sent.
    package func parameters(_ name: String) -> (shown: [String], sent: [String]) {
        func values(_ query: String?) -> [String] {
            let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/?\(query ?? "")")
            return Request(head: head, body: RequestBody(buffer: ByteBuffer())).values(ofParameter: name)
        }
        let sent = request.path.flatMap { path in
            path.firstIndex(of: "?").map { String(path[path.index(after: $0)...]) }
        }
        return (values(query), values(sent))
    }
}

/// Operations, to tell which one each exchange was.
package struct JournalIndex: Sendable {
    /// Index of the operations of `openapi/scribe.yaml`.
    package static let documented = JournalIndex(.documented)

    package let operations: OperationIndex
    private let routes: NearestRoute
    private let byPlace: [String: String]

    package init(_ operations: OperationIndex) {
        self.operations = operations
        let all = operations.ids.compactMap { operations[$0] }
        routes = NearestRoute(all.map { ($0.method.rawValue, $0.path[...].split(ascii: "/")) })
        byPlace = Dictionary(
            all.map { ("\($0.method.rawValue) \($0.path)", $0.id) }, uniquingKeysWith: { first, _ in first })
    }

    /// Operation of an exchange; nil for a path of none.
    /// - Parameter path: Path without prefix and query.
    fileprivate func operation(of exchange: Exchange, _ method: HTTPRequest.Method, _ path: String?) -> String? {
        guard exchange.kind != .delivery else { return nil }
        return exchange.operation ?? (exchange.route ?? path).flatMap { operations.operation(of: method, $0) }
    }

    /// Method, path with its query, and operation of an exchange, without reading its fields: a list of a whole journal
    /// needs no more.
    package func outline(of exchange: Exchange) -> (method: String, path: String?, operation: String?) {
        let (method, path) = exchange.line
        let plain = path?.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
        return (method, path, HTTPRequest.Method(method).flatMap { operation(of: exchange, $0, plain) })
    }

    /// The last exchanges of a journal that are about a transaction. Costs time for each entry: not on an event loop.
    package func exchanges(about id: String, in journal: Journal, most: Int) -> [ShownExchange] {
        var found: [ShownExchange] = []
        for entry in journal.entries.reversed() where found.count < most {
            let exchange = entry.entry.exchange
            let (method, path) = exchange.line
            // Only such a path can name it, and most do not.
            let mayName =
                exchange.transaction != nil
                || path.map { $0.contains(id) || $0.utf8.contains(UInt8(ascii: "%")) } ?? false
            let isCreation = method == "POST" && Self.isCreation(of: id, exchange)
            guard mayName || isCreation else { continue }
            let shown = ShownExchange(entry.number, exchange, self)
            if isCreation || shown.transactions.contains(id) { found.append(shown) }
        }
        return found.reversed()
    }

    /// Whether an exchange may have made a transaction under an id of the server's: only its answer has the id.
    private static func isCreation(of id: String, _ exchange: Exchange) -> Bool {
        guard exchange.response?.status.code == 201 || exchange.response?.status.code == 200,
            let body = exchange.responseBody?.text
        else { return false }
        return String(buffer: body).contains("\"\(id)\"")
    }

    func nearest(_ method: String, _ path: String) -> OperationIndex.Operation? {
        guard let match = routes.match(method, path[...].split(ascii: "/")) else { return nil }
        return byPlace["\(match.method) \(match.path)"].flatMap { operations[$0] }
    }

    package func shown(_ entry: Journal.Numbered) -> ShownExchange {
        ShownExchange(entry.number, entry.entry.exchange, self)
    }

    package func shown(_ number: Int, _ entry: RecordedExchange) -> ShownExchange {
        ShownExchange(number, entry.exchange, self)
    }
}
