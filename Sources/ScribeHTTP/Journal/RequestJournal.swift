package import Basics
import Foundation
import HTTPTypes
import Hummingbird
package import Journal
import NIOCore
package import ScribeDomain
import ScribeRuntime

/// Records each request with its answer in the journal of its world, before the last byte of the answer is sent.
///
/// Calls of the operator API and health probes are not recorded.
package final class RequestJournal: Sendable {
    private let directory: WorldDirectory
    private let settings: RecordSettings
    private var mode: JournalMode { settings.mode }
    private let hidden: [String]

    /// - Parameter hidden: Path prefixes of operator routes.
    package init(directory: WorldDirectory, mode: JournalMode, clock: WallClock, hidden: [String]) {
        self.directory = directory
        settings = RecordSettings(mode: mode, clock: clock)
        self.hidden = hidden
    }

    /// Begins to record a request.
    func begin(_ request: inout Request, _ context: ScribeContext, at time: Date) {
        let sent = context.sentHead.take()
        guard mode.isFull else {
            let head = RecordedHead.fields(HTTPRequest(method: request.method))
            let kind = request.headers.wantsWebSocket ? Exchange.Kind.socket : .request
            context.record = JournalRecord(kind, head, at: time, settings)
            return
        }
        if context.explanation == nil { context.explanation = RefusalFacts() }
        if let sent {
            let head = SentHead(sent.bytes.withUnsafeReadableBytes { Array($0) }, isSecure: sent.isSecure)
            context.record = JournalRecord(
                .request, .bytes(head), at: time, settings, prefix: context.linkPath, requestID: context.requestID)
            return
        }
        let facts = HeadFacts(request.headers)
        let record = JournalRecord(
            facts.isUpgrade ? .socket : .request, .fields(request.head), at: time, settings,
            prefix: context.linkPath, requestID: context.requestID)
        context.record = record
        guard !facts.isUpgrade, facts.mayHaveBody(request.method) else { return }
        let type = request.headers.value(of: .contentType)
        record.update {
            $0.requestBody = RecordedBody(type: type, isHashed: false)
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

    /// Ends the record of a request with its ``RepeatedAnswer``.
    /// - Parameters:
    ///   - route: Pattern of the route; nil for none.
    ///   - time: when the answer was ready.
    /// - Returns: false for an answer that ``recorded(_:of:_:at:)`` must record.
    func ends(with response: Response, of route: String?, _ context: ScribeContext, at time: Date) -> Bool {
        guard let record = context.record else { return true }
        return record.end(
            repeated: response.headers, bodyLength: response.body.contentLength, endpoint: route,
            requestID: context.requestID, at: time)
    }

    /// Records an answer.
    /// - Returns: the answer to send. A short one has one buffer, which the server writes together with the head.
    func recorded(
        _ response: consuming Response, of route: String?, _ context: ScribeContext, at time: Date
    ) async throws -> Response {
        guard let record = context.record else { return response }
        if mode.isFull, response.status.code >= 400, let reason = context.explanation?.facts.reason {
            record.note(reason: reason)
        }
        if end(record, response, of: route, context, at: time) { return response }
        let situation = record.situation
        // A socket that names its world in its first message has not done so yet.
        if !situation.isPlaced, response.status != .switchingProtocols || !situation.isLate { place(record, context) }
        let length = response.body.contentLength
        guard let length, length <= JournalSettings.bodyLimit, !situation.isStreamed else {
            return streamed(response, of: route, length, in: record, context)
        }
        if length == 0 || !mode.isFull {
            record.note(answer: length > 0 ? RecordedBody(size: length) : nil)
        } else {
            let collected = CollectedBody()
            try await response.body.write(collected)
            response.body = ResponseBody(byteBuffer: collected.buffer)
            record.note(answer: RecordedBody(collected.buffer, type: response.headers.value(of: .contentType)))
        }
        _ = end(record, response, of: route, context, at: time)
        return response
    }

    private func end(
        _ record: JournalRecord, _ response: Response, of route: String?, _ context: ScribeContext, at time: Date
    ) -> Bool {
        record.end(head(of: response, route, context), bodyLength: response.body.contentLength, at: time)
    }

    private func head(of response: Response, _ route: String?, _ context: ScribeContext) -> AnswerHead {
        mode.isFull
            ? AnswerHead(response.status, response.headers, endpoint: route, requestID: context.requestID)
            : AnswerHead(response.status, [:], endpoint: route, requestID: "")
    }

    /// Puts a request that reached no family into the journal of the namespace of its path.
    private func place(_ record: JournalRecord, _ context: ScribeContext) {
        guard !record.isPlaced else { return }
        if let path = record.exchange.request.path, hidden.contains(where: path.hasPrefix) {
            return record.put(in: nil)
        }
        let named = context.namespacePrefix?.name.flatMap { directory[$0] }
        record.put(in: (named ?? directory.main).runtime.journal)
    }

    /// Records a long answer, or one of unknown length, as it passes.
    private func streamed(
        _ response: Response, of route: String?, _ length: Int?, in record: JournalRecord, _ context: ScribeContext
    ) -> Response {
        record.enter()
        let isSocket = response.status == .switchingProtocols
        let keepsBody = mode.isFull && !isSocket
        record.update(isNews: isSocket) { exchange in
            if !isSocket {
                exchange.set(
                    responseBody: keepsBody
                        ? RecordedBody(type: response.headers.value(of: .contentType)) : RecordedBody(size: length ?? 0)
                )
            }
            return exchange.note(head(of: response, route, context))
        }
        var passed = response
        passed.body = ResponseBody(contentLength: length) { [self, inner = response.body] writer in
            do {
                try await inner.write(
                    RecordingWriter(writer: writer, record: record, keepsBody: keepsBody, left: length))
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

/// The fields that decide how a request is recorded, found in one pass: a lookup by name costs as much.
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

extension ScribeContext {
    /// Notes in the journal which transaction a socket is about, where its path does not name it.
    package func note(_ transaction: TransactionID) {
        record?.update {
            $0.transaction = transaction
            return 0
        }
    }

    /// Puts the request into the journal of its world. Requests of no namespace's data are not kept.
    func record(in world: World, _ family: any Family, _ request: Request) {
        guard let record else { return }
        guard usesNamespaces else { return record.put(in: nil) }
        let (name, operation) = (family.name, family.operation(of: request, self))
        let isLate =
            !record.isWhole && namespacePrefix == nil && world.namespace == nil && family.namesWorldLate(request)
        guard !isLate else {
            return record.postpone {
                $0.family = name
                $0.operation = operation
            }
        }
        record.put(in: world.runtime.journal, family: name, operation: operation)
    }
}

extension HTTPRequest {
    /// A head of which only the method is known.
    fileprivate init(method: Method) { self.init(method: method, scheme: nil, authority: nil, path: nil) }
}
