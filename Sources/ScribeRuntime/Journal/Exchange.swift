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
    private var requestHead: RecordedHead
    private var responseHead: RecordedHead?
    /// Head of the request, its path without the namespace's prefix.
    package var request: HTTPRequest { requestHead.request }
    package var requestBody: RecordedBody?
    /// Head of the answer; nil until it is known, and for a request without an answer.
    package var response: HTTPResponse? {
        get { responseHead?.response }
        set { responseHead = newValue.map { RecordedHead($0) } }
    }
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

    package init(_ kind: Kind, _ request: HTTPRequest, at time: Date) {
        self.kind = kind
        requestHead = RecordedHead(request)
        startedAt = time
    }

    /// About the memory that the exchange takes before its answer and its bodies, in bytes.
    var headSize: Int { 1200 + requestHead.size }

    /// About the memory of the answer's head, in bytes.
    package var responseSize: Int { responseHead?.size ?? 0 }
}
