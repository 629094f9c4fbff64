package import Basics
package import Connections
package import Hummingbird
package import Journal
package import Logging
import NIOCore
package import ScribeDomain
import ScribeRuntime

/// State of a request while it is served: world, principal, memory and signals. All layers share it, so that what an
/// inner one learns, such as the principal, is known where the answer and its log line are made.
///
/// Unchecked: the task that serves the request is the only one that changes it, and waits for those that it starts.
package final class ScribeContext: RequestContext, @unchecked Sendable {
    package var coreContext: CoreRequestContextStorage
    /// Logger that adds the request's id to each line.
    package var logger: Logger {
        get {
            var logger = sharedLogger
            logger[metadataKey: "request_id"] = "\(requestID)"
            return logger
        }
        set { sharedLogger = newValue }
    }
    private var sharedLogger: Logger
    /// The namespace of the request.
    package var world: World {
        guard let chosenWorld else { preconditionFailure("a request is served before its world is known") }
        return chosenWorld
    }
    /// nil until ``FamilyResponder`` sets it.
    var chosenWorld: World?
    /// All worlds of the server; nil until ``FamilyResponder`` sets it.
    package var directory: WorldDirectory?
    /// Error of an operator's choice of a namespace. Only an authenticated operator learns it.
    package var namespaceError: (any Error)?
    /// Error that the route throws in place of its handler's answer; nil to run the handler.
    var refusal: (any Error)?
    /// Prefix that the path of the request had; nil without one.
    package var namespacePrefix: NamespacePrefix?
    /// First part of the paths of issued links: `/ns/NAME` for a client that came by it, otherwise empty.
    package var linkPath: String { namespacePrefix?.text ?? "" }
    /// The principal that the request acts for; nil before authentication, and on routes without one.
    package var principal: Principal? {
        didSet { record?.note(principal) }
    }
    /// Kind of credential of the principal; nil before authentication, and on routes without one.
    package var credential: Credential?
    /// The request's share of the memory budget; set before a family handles the request.
    package var memory: MemoryShare?
    /// Whether JSON may come compressed; set before a family handles the request.
    var acceptsGzip = false
    /// Whether ``memory`` holds the whole body already.
    var holdsBody = false
    /// Collects the reason of a refusal; nil if the log does not explain refusals.
    package var explanation: RefusalFacts?
    /// Routes to compare an unknown path with; nil if refusals are not explained.
    var routes: NearestRoute?
    /// Fault that applies to the request's socket from its opening on; nil without one.
    var socketFault: SocketFaultAtOpening?
    /// Whether the request is checked against the contract; set before a family handles the request.
    var contractMode = ContractMode.off
    /// The request's operation; nil if it is not checked.
    var contractOperation: Contract.Operation?
    /// Refusal of a request whose parameters do not fit the contract.
    var contractRefusal: (any Error)?
    /// Number of parts of the request and of its answer that do not fit the contract.
    var findings = 0
    /// The answer, if it is one that is given many times.
    var repeatedAnswer: RepeatedAnswer?
    /// Change of the fault rules up to which they were asked about the request.
    var rulesVersion = 0
    /// The request's socket, once it is open.
    var openSocket: OpenSocket?
    /// The caller on routes that set no ``principal``.
    private(set) var caller: Principal?
    /// Whether the request is one of an emulated API, and so of a namespace.
    var usesNamespaces = false
    /// Writes the request into the journal; nil without one.
    var record: JournalRecord?
    /// Settings of faults; set before a family handles the request.
    var faultSettings: FaultSettings?
    /// The request as an HTTP/1 client sent it, without a body; nil if that is not known, and once it is logged.
    var sentHead: (bytes: ByteBuffer, isSecure: Bool)?
    /// The request's target as its family has parsed it, for the journal and then for the answer.
    package var target: (any Sendable)?
    private var place: RequestAddress?
    /// Connection of the request.
    let connection: ClientConnection
    /// Id of the request, in the log and in the `x-request-id` header.
    package internal(set) var requestID: String

    /// IP address of the peer; empty without one.
    package let address: String

    /// Makes the state of the newest request of a connection, on its event loop.
    package init(connection: ClientConnection, requestID: String, logger: Logger) {
        self.connection = connection
        address = connection.address
        sentHead = connection.takeSentHead()
        self.requestID = requestID
        sharedLogger = logger
        coreContext = CoreRequestContextStorage(source: CoreSource(logger: logger))
    }

    package convenience init(source: ApplicationRequestContextSource) {
        let id = source.logger[metadataKey: "hb.request.id"]
        self.init(
            connection: ClientConnection(source.channel), requestID: id?.description ?? "", logger: source.logger)
    }

    /// The parts of a request's address, which are found once. The console serves calls of the operator API with the
    /// context of its own request.
    package func place(of request: Request) -> RequestAddress {
        if let place, place.request.head.path == request.head.path, place.request.head.method == request.head.method {
            return place
        }
        let found = RequestAddress(request)
        place = found
        return found
    }

    /// Tells the journal the MD5 of the object that the request's body has become.
    package var noteObject: @Sendable (any Sequence<UInt8>) -> Void {
        { [record] md5 in record?.note(objectWith: Array(md5)) }
    }

    /// Names the caller to the journal, on routes that set no ``principal``.
    package func noteCaller(_ principal: Principal) {
        caller = principal
        guard let record else { return }
        record.note(principal)
        // A request that names no other world belongs to this one.
        if !record.isPlaced { record.put(in: world.runtime.journal) }
    }

    /// Adds a remark to the journal about a request that is served although it is odd.
    package func note(oddity: String) {
        guard let record, record.mode.isFull else { return }
        record.note(reason: oddity)
    }

    /// Tells the journal and the log which parts of the request have no effect here.
    package func note(_ ignored: [Remark]) {
        guard !ignored.isEmpty else { return }
        logger.notice(
            "parts of a request have no effect",
            metadata: ["ignored": "\(ignored.map(\.place).joined(separator: ", "))"])
        record?.note(ignored, in: \.ignored)
    }

    /// Tells the journal and the log that a part of the request has no effect here.
    /// - Parameter problem: A sentence without its subject, which is the part.
    package func note(ignored name: String, because problem: String) { note([Remark(name, problem)]) }

    /// A signal that fires once, when the client disconnects or half-closes.
    ///
    /// A handler that takes it may wait long. So the journal shows the request from now on.
    package func clientDisconnect() -> OneShotSignal {
        record?.enter()
        return connection.disconnect
    }

    /// Tells the journal the answer that the caller is about to return. Otherwise the journal copies it.
    package func note(_ answer: RepeatedAnswer) {
        if contractOperation != nil { repeatedAnswer = answer }
        guard let record, record.mode.isFull, answer.body.readableBytes <= JournalSettings.bodyLimit else { return }
        record.note(answer)
    }
}

/// Source of Hummingbird's part of a context.
private struct CoreSource: RequestContextSource {
    let logger: Logger
}
