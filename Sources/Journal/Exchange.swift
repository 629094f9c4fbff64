import Basics
package import Foundation
package import HTTPTypes
package import NIOCore
package import ScribeDomain

/// A request with its answer, a socket with its frames, or an attempt at a webhook's delivery.
package struct Exchange: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        case request, socket, delivery
    }

    /// End of an exchange.
    package enum End: String, Sendable {
        /// The answer was sent whole, as far as the server knows.
        case whole
        /// The connection ended before or within the answer. A socket ended without a close frame, or its client broke
        /// the protocol.
        case cut
    }

    package var kind: Kind
    /// Head of the request.
    package let head: RecordedHead
    /// About the memory that the exchange takes before its answer and its bodies, in bytes.
    let headSize: Int
    package var requestBody: RecordedBody?
    /// Head of the answer; nil until it is known, and for a request without an answer.
    package var response: HTTPResponse? {
        if let answer { return HTTPResponse(status: answer.status, headerFields: answer.fields) }
        return end == .whole ? repeated?.head(requestID) : nil
    }
    var answer: (status: HTTPResponse.Status, fields: HTTPFields)?
    /// Body of the answer, or of its part so far.
    package var responseBody: RecordedBody? { repeated?.recordedBody ?? collectedBody }
    var collectedBody: RecordedBody?
    /// The answer, if it is one that is given many times.
    var repeated: RepeatedAnswer?
    /// Start of the exchange, by the machine's clock.
    package let startedAt: Date
    package var endedAt: Date?
    package var end: End?
    /// Prefix `/ns/NAME` that the path had. The path in ``RecordedHead/bytes(_:)`` still has it.
    package let prefix: String
    var endpoint: String?
    /// Pattern of the route; nil for none.
    package var route: String? { endpoint?.utf8.first == UInt8(ascii: "/") ? endpoint : nil }
    package var family: String?
    /// Operation that the path does not tell.
    package var operation: String?
    package var principal: Principal?
    package private(set) var requestID: String
    /// Reason that the request was refused, or that the delivery failed; or an oddity of a request that was served.
    package var reason: String?
    /// Parts of the request that have no effect here.
    package var ignored: [Remark] = []
    /// Parts of the request and of the answer that do not fit the contract.
    package var findings: [Remark] = []
    /// Fault rules that were applied.
    package var fault: String?
    /// Recording that was played to the socket.
    package var playback: String?
    package var frames: [RecordedFrame] = []
    /// Memory that the frames take, in bytes.
    var frameBytes = 0
    /// Number of frames that were not kept, because the limits of a socket were reached.
    package var framesLeftOut = 0
    /// Event and attempt of a delivery, and whether a fault rule has signed it with another key.
    package var delivery: (event: String?, attempt: Int, isSignedWrongly: Bool)?
    /// Id of the transaction of a delivery, or of a socket whose path has no transaction id.
    package var transaction: TransactionID?

    init(_ kind: Kind, _ head: RecordedHead, at time: Date, prefix: String, requestID: String) {
        self.kind = kind
        self.head = head
        headSize = 1200 + head.size
        startedAt = time
        self.prefix = prefix
        self.requestID = requestID
    }

    /// Head of the request, its path without the namespace's prefix.
    package var request: HTTPRequest {
        var request = head.request
        guard case .bytes = head, let path = request.path, !prefix.isEmpty else { return request }
        request.path = Self.path(path, without: prefix)
        return request
    }

    /// Method, and path with its query but without the namespace's prefix, without reading the fields.
    package var line: (method: String, path: String?) {
        let line = head.line
        guard case .bytes = head, let path = line.path, !prefix.isEmpty else { return line }
        return (line.method, Self.path(path, without: prefix))
    }

    /// A path, with its query, without the prefix of its namespace.
    package static func path(_ path: String, without prefix: String) -> String {
        let rest = String(Substring(path.utf8.dropFirst(prefix.utf8.count)))
        return rest.hasPrefix("/") ? rest : "/\(rest)"
    }

    /// Notes the head of the answer to a request or socket.
    /// - Returns: about its memory, in bytes.
    package mutating func note(_ head: AnswerHead) -> Int {
        if head.status.code != 101 { kind = .request }
        endpoint = head.endpoint
        requestID = head.requestID
        return answer(head.status, head.fields) + (repeated?.bodyMemory ?? 0)
    }

    /// Notes that the answer will be this one. Its memory counts when the answer's head is known.
    mutating func note(_ answer: RepeatedAnswer) { repeated = answer }

    /// Notes that the answer is the noted one.
    /// - Parameter fields: Fields of the answer.
    /// - Returns: about its memory, in bytes; nil for another answer.
    mutating func noteRepeated(
        _ fields: HTTPFields, bodyLength length: Int?, endpoint: String?, requestID: String
    ) -> Int? {
        guard let repeated, repeated.isSent(with: fields, bodyLength: length, to: requestID) else { return nil }
        self.endpoint = endpoint
        // A seeded world names its requests itself.
        if self.requestID != requestID { self.requestID = requestID }
        return repeated.bodyMemory
    }

    /// Notes the body of the answer, or its beginning; nil for none.
    package mutating func set(responseBody body: RecordedBody?) {
        repeated = nil
        collectedBody = body
    }

    /// Adds a piece of the answer's body.
    /// - Returns: how much more memory the body takes.
    package mutating func add(response piece: ByteBuffer) -> Int { collectedBody?.add(piece) ?? 0 }

    /// Notes the head of the answer.
    /// - Returns: about its memory, in bytes.
    package mutating func answer(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> Int {
        answer = (status, fields)
        // A pass over the fields costs more than all else here. Few fields are the server's own, and short.
        let size = fields.count <= 6 ? 0 : fields.total(\.size)
        return HTTPField.overhead * fields.count + size
    }
}

/// Head of an answer, with the route and the id of its request.
package struct AnswerHead: Sendable {
    let status: HTTPResponse.Status
    let fields: HTTPFields
    /// Pattern of the route; a name for requests without a route.
    let endpoint: String?
    let requestID: String

    package init(_ status: HTTPResponse.Status, _ fields: HTTPFields, endpoint: String?, requestID: String) {
        self.status = status
        self.fields = fields
        self.endpoint = endpoint
        self.requestID = requestID
    }
}
