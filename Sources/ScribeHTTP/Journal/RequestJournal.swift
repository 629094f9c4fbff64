import Foundation
import HTTPTypes
package import Hummingbird
import NIOCore
package import ScribeDomain
package import ScribeRuntime

/// Records each request with its answer in the journal of its world, before the last byte of the answer is sent.
///
/// Calls of the operator API and health probes are not recorded.
package struct RequestJournal<Next: HTTPResponder>: HTTPResponder where Next.Context == ScribeContext {
    private let next: Next
    private let directory: WorldDirectory
    private let mode: JournalMode
    private let clock: WallClock
    private let hidden: String

    /// - Parameter hidden: First path component of the operator API.
    package init(next: Next, directory: WorldDirectory, mode: JournalMode, clock: WallClock, hidden: String) {
        self.next = next
        self.directory = directory
        self.mode = mode
        self.clock = clock
        self.hidden = hidden
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        guard mode != .off, !RequestAddress(request).begins(with: hidden) else {
            return try await next.respond(to: request, context: context)
        }
        let record = JournalRecord(exchange(of: request, context), mode: mode, clock: clock)
        var (request, context) = (request, context)
        context.record = record
        if mode == .full, !request.headers.wantsWebSocket, request.mayHaveBody {
            let type = request.headers[.contentType]
            record.update {
                $0.requestBody = RecordedBody(type: type)
                return 0
            }
            request.body = RequestBody(asyncSequence: RecordedRequestBody(body: request.body, record: record))
        }
        if mode == .full { context.explanation = RefusalFacts() }
        do {
            let response = try await next.respond(to: request, context: context)
            place(record, request, context)
            note(response, in: record, context)
            return try await recorded(response, in: record)
        } catch {
            place(record, request, context)
            record.end(.cut)
            throw error
        }
    }

    private func exchange(of request: Request, _ context: ScribeContext) -> Exchange {
        let kind: Exchange.Kind = request.headers.wantsWebSocket ? .socket : .request
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
    private func place(_ record: JournalRecord, _ request: Request, _ context: ScribeContext) {
        guard !record.isPlaced else { return }
        let named = context.namespacePrefix?.name.flatMap { directory[$0] }
        record.put(in: (named ?? directory.main).runtime.journal)
    }

    private func note(_ response: Response, in record: JournalRecord, _ context: ScribeContext) {
        let route = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
        let isFull = mode == .full
        let reason = response.status.code >= 400 ? context.explanation?.facts.reason : nil
        let isOpen = response.status == .switchingProtocols
        record.update(isNews: isOpen) { exchange in
            exchange.route = route
            exchange.fault = response.headers[.scribeFaultApplied]
            if !isOpen { exchange.kind = .request }
            guard isFull else {
                exchange.response = HTTPResponse(status: response.status)
                return 0
            }
            exchange.response = response.head
            exchange.requestID = response.headers[.requestID] ?? exchange.requestID
            exchange.reason = reason
            var growth = reason?.utf8.count ?? 0
            for field in response.headers { growth += field.value.utf8.count + 80 }
            return growth
        }
    }

    /// Longest body that is recorded before its first byte is sent.
    private static var mostAtOnce: Int { JournalSettings.bodyLimit }

    /// - Returns: the same answer. A short one has one buffer then, which the server writes together with the head.
    private func recorded(_ response: Response, in record: JournalRecord) async throws -> Response {
        let length = response.body.contentLength
        if length == 0 {
            record.end(.whole)
            return response
        }
        var response = response
        if let length, length <= Self.mostAtOnce, !record.isStreamed {
            let body: RecordedBody
            if mode == .full {
                let collected = CollectedBody()
                try await response.body.write(collected)
                let buffer = collected.buffer
                var kept = RecordedBody(type: response.headers[.contentType])
                let growth = kept.add(buffer)
                record.update { [kept] in
                    $0.responseBody = kept
                    return growth
                }
                response.body = ResponseBody(byteBuffer: buffer)
            } else {
                body = RecordedBody(size: length)
                record.update {
                    $0.responseBody = body
                    return 0
                }
            }
            record.end(.whole)
            return response
        }
        let type = response.headers[.contentType]
        let isSocket = response.status == .switchingProtocols
        let (mode, inner) = (mode, response.body)
        if !isSocket {
            record.update {
                $0.responseBody = mode == .full ? RecordedBody(type: type) : RecordedBody(size: length ?? 0)
                return 0
            }
        }
        response.body = ResponseBody(contentLength: length) { writer in
            do {
                if isSocket || mode == .metadata {
                    try await inner.write(EndRecorder(writer: writer, record: record))
                } else {
                    try await inner.write(RecordingWriter(writer: writer, record: record, left: length))
                }
                record.end(.whole)
            } catch {
                record.end(.cut)
                throw error
            }
        }
        return response
    }
}

extension Request {
    /// Whether the head leaves room for a body.
    fileprivate var mayHaveBody: Bool {
        if let length = headers[.contentLength] { return length != "0" }
        return headers[.transferEncoding] != nil || ![.get, .head, .options].contains(method)
    }
}

extension ScribeContext {
    /// Puts the request into the journal of its world. Requests of no namespace's data are not kept.
    func record(in world: World, _ family: any Family, _ request: Request) {
        guard let record else { return }
        guard family.namespaceUse(of: request) == .all else { return record.put(in: nil) }
        let (name, operation) = (family.name, family.operation(of: request))
        record.update {
            $0.family = name
            $0.operation = operation
            return 0
        }
        record.put(in: world.runtime.journal)
    }
}
