import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
package import ScribeDomain
package import ScribeRuntime

/// Records each request with its answer in the journal of its world, before the last byte of the answer is sent.
///
/// Calls of the operator API and health probes are not recorded.
package struct RequestJournal: Sendable {
    private let directory: WorldDirectory
    private let mode: JournalMode
    private let clock: WallClock
    private let hidden: [String]

    /// - Parameter hidden: Begins of the paths of operators' routes.
    package init(directory: WorldDirectory, mode: JournalMode, clock: WallClock, hidden: [String]) {
        self.directory = directory
        self.mode = mode
        self.clock = clock
        self.hidden = hidden
    }

    /// Begins to record a request.
    func begin(_ request: inout Request, _ context: inout ScribeContext) {
        if let path = request.head.path, hidden.contains(where: path.hasPrefix) { return }
        let facts = HeadFacts(request.headers)
        let record = JournalRecord(exchange(of: request, facts, context), mode: mode, clock: clock)
        context.record = record
        guard mode == .full else { return }
        if context.explanation == nil { context.explanation = RefusalFacts() }
        guard !facts.isUpgrade, facts.mayHaveBody(request.method) else { return }
        let type = request.headers[.contentType]
        record.update {
            $0.requestBody = RecordedBody(type: type)
            return 0
        }
        request.body = RequestBody(asyncSequence: RecordedRequestBody(body: request.body, record: record))
    }

    /// Ends the record of a request without an answer.
    func fail(_ context: ScribeContext) {
        guard let record = context.record else { return }
        place(record, context)
        record.end(.cut)
    }

    /// Records an answer.
    /// - Returns: the same answer. A short one has one buffer then, which the server writes together with the head.
    func recorded(_ response: Response, _ context: ScribeContext) async throws -> Response {
        guard let record = context.record else { return response }
        // A socket that names its world in its first message has not done so yet.
        if response.status != .switchingProtocols || !record.isLate { place(record, context) }
        return try await recorded(response, in: record, context)
    }

    private func exchange(of request: Request, _ facts: HeadFacts, _ context: ScribeContext) -> Exchange {
        let kind: Exchange.Kind = facts.isUpgrade ? .socket : .request
        guard mode == .full else {
            return Exchange(
                kind, HTTPRequest(method: request.method, scheme: nil, authority: nil, path: nil), at: clock.now)
        }
        var exchange = Exchange(kind, request.head, at: clock.now)
        exchange.prefix = context.namespacePrefix?.text ?? ""
        exchange.requestID = context.requestID
        return exchange
    }

    /// Puts a request that reached no family into the journal of the namespace of its path.
    private func place(_ record: JournalRecord, _ context: ScribeContext) {
        guard !record.isPlaced else { return }
        let named = context.namespacePrefix?.name.flatMap { directory[$0] }
        record.put(in: (named ?? directory.main).runtime.journal)
    }

    /// Notes the head of an answer.
    private func note(_ response: Response, in exchange: inout Exchange, _ context: ScribeContext) -> Int {
        exchange.route = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
        if response.status != .switchingProtocols { exchange.kind = .request }
        guard mode == .full else {
            exchange.response = HTTPResponse(status: response.status)
            return 0
        }
        exchange.response = response.head
        exchange.requestID = context.requestID
        if response.status.code >= 400 { exchange.reason = context.explanation?.facts.reason }
        return exchange.responseSize + (exchange.reason?.utf8.count ?? 0)
    }

    private func recorded(
        _ response: Response, in record: JournalRecord, _ context: ScribeContext
    ) async throws -> Response {
        let length = response.body.contentLength
        guard let length, length <= JournalSettings.bodyLimit, !record.isStreamed else {
            return streamed(response, length, in: record, context)
        }
        var response = response
        var body = RecordedBody(size: length)
        var growth = 0
        if mode == .full, length > 0 {
            let collected = CollectedBody()
            try await response.body.write(collected)
            let buffer = collected.buffer
            let type = response.headers.type
            body = RecordedBody(type: type)
            growth = body.add(buffer, isText: type == "application/json")
            response.body = ResponseBody(byteBuffer: buffer)
        }
        record.end(.whole) { exchange in
            if length > 0 { exchange.responseBody = body }
            return growth + note(response, in: &exchange, context)
        }
        return response
    }

    /// Records a long answer, or one of unknown length, as it passes.
    private func streamed(
        _ response: Response, _ length: Int?, in record: JournalRecord, _ context: ScribeContext
    ) -> Response {
        let isSocket = response.status == .switchingProtocols
        let keepsBody = mode == .full && !isSocket
        record.update(isNews: isSocket) { exchange in
            if !isSocket {
                exchange.responseBody =
                    keepsBody
                    ? RecordedBody(type: response.headers[.contentType]) : RecordedBody(size: length ?? 0)
            }
            return note(response, in: &exchange, context)
        }
        var passed = response
        passed.body = ResponseBody(contentLength: length) { [inner = response.body] writer in
            do {
                if keepsBody {
                    try await inner.write(RecordingWriter(writer: writer, record: record, left: length))
                } else {
                    try await inner.write(EndRecorder(writer: writer, record: record))
                }
                record.end(.whole)
            } catch {
                record.end(.cut)
                place(record, context)
                throw error
            }
            place(record, context)
        }
        return passed
    }
}

/// Fields of a request's head that decide how the request is recorded, found in one pass: a lookup by name costs as
/// much.
private struct HeadFacts {
    /// Whether the request asks for a WebSocket.
    var isUpgrade = false
    private var length: String?
    private var isChunked = false

    init(_ headers: HTTPFields) {
        for field in headers {
            // Most names have another length, which is compared faster than names.
            switch field.name.rawName.utf8.count {
            case 7 where field.name == .upgrade: isUpgrade = headers.wantsWebSocket
            case 14 where field.name == .contentLength: length = field.value
            case 17 where field.name == .transferEncoding: isChunked = true
            default: continue
            }
        }
    }

    /// Whether the head leaves room for a body.
    func mayHaveBody(_ method: HTTPRequest.Method) -> Bool {
        if let length { return length != "0" }
        return isChunked || ![.get, .head, .options].contains(method)
    }
}

extension HTTPFields {
    /// The content type. A lookup by name costs three times as much.
    fileprivate var type: String? {
        first { $0.name.rawName.utf8.count == 12 && $0.name == .contentType }?.value
    }
}

extension ScribeContext {
    /// Puts the request into the journal of its world. Requests of no namespace's data are not kept.
    func record(in world: World, _ family: any Family, _ request: Request) {
        guard let record else { return }
        guard usesNamespaces else { return record.put(in: nil) }
        let (name, operation) = (family.name, family.operation(of: request))
        let isLate = namespacePrefix == nil && world.namespace == nil && family.namesWorldLate(request)
        guard !isLate else {
            return record.postpone {
                $0.family = name
                $0.operation = operation
            }
        }
        record.put(in: world.runtime.journal) {
            $0.family = name
            $0.operation = operation
        }
    }
}
