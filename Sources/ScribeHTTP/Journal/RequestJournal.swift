import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
package import ScribeDomain
package import ScribeRuntime

/// Records each request with its answer in the journal of its world, before the last byte of the answer is sent.
///
/// Calls of the operator API and health probes are not recorded.
package final class RequestJournal: Sendable {
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
    func begin(_ request: inout Request, _ context: inout ScribeContext, at time: Date) {
        if let path = request.head.path, hidden.contains(where: { path.utf8.starts(with: $0.utf8) }) { return }
        let facts = HeadFacts(request.headers)
        let record = JournalRecord(
            facts.isUpgrade ? .socket : .request, mode.isFull ? request.head : HTTPRequest(method: request.method),
            fieldsSize: mode.isFull ? facts.size : 0, at: time, mode: mode, clock: clock
        ) { exchange in
            guard mode.isFull else { return }
            exchange.prefix = context.namespacePrefix?.text ?? ""
            exchange.requestID = context.requestID
        }
        context.record = record
        guard mode.isFull else { return }
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
    /// - Parameter time: when the answer was ready.
    /// - Returns: the same answer. A short one has one buffer then, which the server writes together with the head.
    func recorded(_ response: consuming Response, _ context: ScribeContext, at time: Date) async throws -> Response {
        guard let record = context.record else { return response }
        let situation = record.situation
        // A socket that names its world in its first message has not done so yet.
        if !situation.isPlaced, response.status != .switchingProtocols || !situation.isLate { place(record, context) }
        let length = response.body.contentLength
        guard let length, length <= JournalSettings.bodyLimit, !situation.isStreamed else {
            return streamed(response, length, in: record, context)
        }
        var body: RecordedBody?
        var growth = 0
        if mode.isFull, length > 0 {
            let collected = CollectedBody()
            try await response.body.write(collected)
            let buffer = collected.buffer
            let type = response.headers.value(of: .contentType)
            var text = RecordedBody(type: type)
            growth = text.add(buffer, isText: type == "application/json")
            body = text
            response.body = ResponseBody(byteBuffer: buffer)
        } else if length > 0 {
            body = RecordedBody(size: length)
        }
        record.end(.whole, at: time) { exchange in
            exchange.responseBody = body
            return growth + note(response, in: &exchange, context)
        }
        return response
    }

    /// Puts a request that reached no family into the journal of the namespace of its path.
    private func place(_ record: JournalRecord, _ context: ScribeContext) {
        guard !record.isPlaced else { return }
        let named = context.namespacePrefix?.name.flatMap { directory[$0] }
        record.put(in: (named ?? directory.main).runtime.journal)
    }

    /// Notes the head of an answer.
    private func note(_ response: Response, in exchange: inout Exchange, _ context: ScribeContext) -> Int {
        exchange.route = context.endpointPath.flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
        if response.status != .switchingProtocols { exchange.kind = .request }
        guard mode.isFull else {
            _ = exchange.answer(with: HTTPResponse(status: response.status))
            return 0
        }
        let size = exchange.answer(with: response.head)
        if exchange.requestID != context.requestID { exchange.requestID = context.requestID }
        if response.status.code >= 400 { exchange.reason = context.explanation?.facts.reason }
        return size + (exchange.reason?.utf8.count ?? 0)
    }

    /// Records a long answer, or one of unknown length, as it passes.
    private func streamed(
        _ response: Response, _ length: Int?, in record: JournalRecord, _ context: ScribeContext
    ) -> Response {
        let isSocket = response.status == .switchingProtocols
        let keepsBody = mode.isFull && !isSocket
        record.update(isNews: isSocket) { exchange in
            if !isSocket {
                exchange.responseBody =
                    keepsBody
                    ? RecordedBody(type: response.headers[.contentType]) : RecordedBody(size: length ?? 0)
            }
            return note(response, in: &exchange, context)
        }
        var passed = response
        passed.body = ResponseBody(contentLength: length) { [self, inner = response.body] writer in
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

/// Size of a request's fields, and the fields that decide how the request is recorded, found in one pass: a lookup by
/// name costs as much.
private struct HeadFacts {
    /// Bytes of all names and values.
    private(set) var size = 0
    /// Whether the request asks for a WebSocket.
    var isUpgrade = false
    private var length: String?
    private var isChunked = false

    init(_ headers: HTTPFields) {
        for field in headers {
            size += field.size
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

extension HTTPRequest {
    /// A head of which only the method is known.
    fileprivate init(method: Method) { self.init(method: method, scheme: nil, authority: nil, path: nil) }
}
