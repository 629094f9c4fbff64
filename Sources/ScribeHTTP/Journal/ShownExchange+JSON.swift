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
    package var summary: [JSON.Member] {
        let exchange = exchange
        var members: [JSON.Member] = [("id", .integer(number)), ("kind", .string(exchange.kind.rawValue))]
        func add(_ name: String, _ text: String?) {
            if let text { members.append((name, .string(text))) }
        }
        add("started_at", Self.time(exchange.startedAt))
        if let end = exchange.endedAt {
            members.append(("ms", .number(Self.milliseconds(from: exchange.startedAt, end))))
        }
        add("method", request.method.rawValue)
        add("host", request.values(of: .host).first?.value)
        if !exchange.prefix.isEmpty { add("prefix", exchange.prefix) }
        add("path", path)
        add("query", query)
        add("operation", operation)
        add("route", exchange.route)
        add("family", exchange.family)
        add("event", exchange.delivery?.event)
        if let delivery = exchange.delivery {
            members.append(("attempt", .integer(delivery.attempt)))
            if delivery.isSignedWrongly { members.append(("signed_wrongly", true)) }
        }
        add("transaction", exchange.transaction?.rawValue)
        if let status { members.append(("status", .integer(status))) }
        add("end", exchange.end?.rawValue ?? "open")
        add("business", exchange.principal?.business.rawValue)
        add("client", exchange.principal?.client.rawValue)
        add("fault", exchange.fault)
        add("playback", exchange.playback)
        add("reason", exchange.reason.map { SecretMask.text($0) })
        if !exchange.ignored.isEmpty {
            members.append(
                (
                    "ignored",
                    .array(exchange.ignored) { ["name": .string($0.name), "problem": .string($0.problem)] }
                ))
        }
        if !exchange.findings.isEmpty {
            members.append(
                (
                    "findings",
                    .array(exchange.findings) { ["place": .string($0.place), "problem": .string($0.problem)] }
                ))
        }
        if let nearest {
            members.append(
                (
                    "nearest",
                    [
                        "operation": .string(nearest.id), "method": .string(nearest.method.rawValue),
                        "path": .string(nearest.path),
                    ]
                ))
        }
        if let size = requestBody?.size { members.append(("request_bytes", .integer(size))) }
        if let size = exchange.responseBody?.size { members.append(("response_bytes", .integer(size))) }
        if exchange.kind == .socket {
            members.append(("frames", .integer(exchange.frames.count)))
            if exchange.framesLeftOut > 0 { members.append(("frames_left_out", .integer(exchange.framesLeftOut))) }
        }
        add("request_id", exchange.requestID.isEmpty ? nil : exchange.requestID)
        return members
    }

    /// The exchange with headers, bodies and frames.
    package var detail: [JSON.Member] {
        var members = summary
        members.append(("request", Self.json(requestFields, requestBody)))
        if let response = self.response {
            members.append(("response", Self.json(response.headerFields, exchange.responseBody)))
        }
        if exchange.kind == .socket {
            members.removeAll { $0.name == "frames" }
            members.append(("frames", .array(exchange.frames) { .object(frame($0)) }))
        }
        return members
    }

    /// Fields of the request's head, the address of the server among them.
    package var requestFields: HTTPFields { HTTPFields(request.values(of: .host)) + request.headerFields }

    /// A frame, with its time in milliseconds after the socket's.
    package func frame(_ frame: RecordedFrame) -> [JSON.Member] {
        var members: [JSON.Member] = [
            ("ms", .number(Self.milliseconds(from: exchange.startedAt, frame.time))),
            ("from", .string(frame.sender.rawValue)),
        ]
        switch frame.content {
        case .text(let body):
            members.append(("text", body.text.map { _ in .string(body.shownText ?? "") } ?? body.json))
        case .binary(let body): members.append(("binary", body.json))
        case .ping: members.append(("ping", true))
        case .pong: members.append(("pong", true))
        case .close(let code, let reason):
            members.append(("close", .integer(Int(code))))
            if !reason.isEmpty { members.append(("reason", .string(reason))) }
        }
        return members
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
