package import Basics
import Connections
import Foundation
package import HTTPTypes
package import Journal
import NIOCore
import ScribeDomain
import ScribeRuntime

extension ShownExchange {
    /// The exchange without headers and bodies.
    package var summary: JSON { summary(countsFrames: true) }

    private func summary(countsFrames: Bool) -> JSON {
        let (exchange, delivery) = (exchange, exchange.delivery)
        let isSocket = exchange.kind == .socket
        let head: JSON = [
            "id": .integer(number), "kind": .string(exchange.kind.rawValue),
            "started_at": .string(Self.time(exchange.startedAt)),
            "ms": exchange.endedAt.map { .number(Self.milliseconds(from: exchange.startedAt, $0)) },
            "method": .string(request.method.rawValue),
            "host": request.values(of: .host).first.map { .string($0.value) },
            "prefix": exchange.prefix.isEmpty ? nil : .string(exchange.prefix), "path": path.map(JSON.string),
            "query": query.map(JSON.string), "operation": operation.map(JSON.string),
            "route": exchange.route.map(JSON.string), "family": exchange.family.map(JSON.string),
        ]
        let caller: JSON = [
            "event": (delivery?.event).map(JSON.string), "attempt": (delivery?.attempt).map(JSON.integer),
            "signed_wrongly": delivery?.isSignedWrongly == true ? true : nil,
            "transaction": exchange.transaction.map { .string($0.rawValue) }, "status": status.map(JSON.integer),
            "end": .string(exchange.end?.rawValue ?? "open"),
            "business": exchange.principal.map { .string($0.business.rawValue) },
            "client": exchange.principal.map { .string($0.client.rawValue) },
            "fault": exchange.fault.map(JSON.string), "playback": exchange.playback.map(JSON.string),
            "reason": exchange.reason.map { .string(SecretMask.text($0)) },
        ]
        let ignored = JSON.array(exchange.ignored) { ["name": .string($0.place), "problem": .string($0.problem)] }
        let findings = JSON.array(exchange.findings) { ["place": .string($0.place), "problem": .string($0.problem)] }
        return head.adding(caller).adding([
            "ignored": exchange.ignored.isEmpty ? nil : ignored,
            "findings": exchange.findings.isEmpty ? nil : findings,
            "nearest": nearest.map {
                ["operation": .string($0.id), "method": .string($0.method.rawValue), "path": .string($0.path)]
            },
            "request_bytes": (requestBody?.size).map(JSON.integer),
            "response_bytes": (exchange.responseBody?.size).map(JSON.integer),
            "frames": isSocket && countsFrames ? .integer(exchange.frames.count) : nil,
            "frames_left_out": isSocket && exchange.framesLeftOut > 0 ? .integer(exchange.framesLeftOut) : nil,
            "request_id": exchange.requestID.isEmpty ? nil : .string(exchange.requestID),
        ])
    }

    /// The exchange with headers, bodies and frames.
    package var detail: JSON {
        summary(countsFrames: false).adding([
            "request": Self.json(requestFields, requestBody),
            "response": response.map { Self.json($0.headerFields, exchange.responseBody) },
            "frames": exchange.kind == .socket ? .array(exchange.frames) { frame($0) } : nil,
        ])
    }

    /// Fields of the request's head, the address of the server among them.
    package var requestFields: HTTPFields { HTTPFields(request.values(of: .host)) + request.headerFields }

    /// A frame, with its time in milliseconds after the socket's.
    package func frame(_ frame: RecordedFrame) -> JSON {
        let head: JSON = [
            "ms": .number(Self.milliseconds(from: exchange.startedAt, frame.time)),
            "from": .string(frame.sender.rawValue),
        ]
        let content: JSON =
            switch frame.content {
            case .text(let body): ["text": body.text == nil ? body.json : .string(body.shownText ?? "")]
            case .binary(let body): ["binary": body.json]
            case .ping: ["ping": true]
            case .pong: ["pong": true]
            case .close(let code, let reason):
                ["close": .integer(Int(code)), "reason": reason.isEmpty ? nil : .string(reason)]
            }
        return head.adding(content)
    }

    private static func json(_ headers: HTTPFields, _ body: RecordedBody?) -> JSON {
        [
            "headers": .array(headers) {
                ["name": .string($0.name.rawName), "value": .string(SecretMask.value(of: $0))]
            },
            "body": body.flatMap { $0.size == 0 ? nil : $0.json },
        ]
    }

    static func time(_ date: Date) -> String { date.iso8601Milliseconds }

    static func milliseconds(from start: Date, _ end: Date) -> Double {
        (max(0, end.timeIntervalSince(start)) * 10_000).rounded() / 10
    }
}

extension RecordedBody {
    /// The text without credentials; nil for data that is no text.
    package var shownText: String? { text.map { SecretMask.text($0.readableBytesView) } }

    /// Text, or size and digest.
    var json: JSON {
        if let text = shownText {
            return ["size": .integer(size), "text": .string(text), "truncated": isTruncated ? true : nil]
        }
        return ["size": .integer(size), "md5": md5.map(JSON.string), "sha256": sha256.map(JSON.string)]
    }
}
