package import Foundation
package import HTTPTypes
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
        /// The connection ended before or within the answer.
        case cut
    }

    package var kind: Kind
    /// Head of the request, its path without the namespace's prefix.
    package let request: HTTPRequest
    /// About the memory that the exchange takes before its answer and its bodies, in bytes.
    let headSize: Int
    package var requestBody: RecordedBody?
    /// Head of the answer; nil until it is known, and for a request without an answer.
    package private(set) var response: HTTPResponse?
    package var responseBody: RecordedBody?
    /// Start of the exchange, by the machine's clock.
    package let startedAt: Date
    package var endedAt: Date?
    package var end: End?
    /// Prefix `/ns/NAME` that the path had.
    package var prefix = ""
    /// Pattern of the route; nil for none.
    package var route: String?
    package var family: String?
    /// Operation that the path does not tell.
    package var operation: String?
    package var principal: Principal?
    package var requestID = ""
    /// Reason that the request was refused, or that the delivery failed.
    package var reason: String?
    /// Fault rules that were applied.
    package var fault: String?
    /// Recording that was played to the socket.
    package var playback: String?
    package var frames: [RecordedFrame] = []
    /// Memory that the frames take, in bytes.
    var frameBytes = 0
    /// Number of frames that were not kept, because the limits of a socket were reached.
    package var framesLeftOut = 0
    /// Event and attempt of a delivery.
    package var delivery: (event: String?, attempt: Int)?
    /// Transaction of a delivery.
    package var transaction: TransactionID?

    /// - Parameter size: bytes of the names and values of the request's fields.
    init(_ kind: Kind, _ request: HTTPRequest, fieldsSize size: Int, at time: Date) {
        self.kind = kind
        self.request = request
        headSize = 1200 + size + Self.fieldSize * request.headerFields.count + (request.path?.utf8.count ?? 0)
        startedAt = time
    }

    /// Notes the head of the answer.
    /// - Returns: about its memory, in bytes.
    package mutating func answer(with head: HTTPResponse) -> Int {
        response = head
        let fields = head.headerFields
        // A pass over the fields costs more than all else here. Few fields are the server's own, and short.
        let size = fields.count <= 6 ? 0 : fields.reduce(0) { $0 + $1.size }
        return Self.fieldSize * fields.count + size
    }

    /// About the memory of a field without the bytes of its name and value.
    private static let fieldSize = 200
}

extension HTTPField {
    /// Bytes of the name and the value.
    package var size: Int { name.rawName.utf8.count + value.utf8.count }
}
