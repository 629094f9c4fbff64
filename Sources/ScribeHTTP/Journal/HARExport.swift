import Basics
import Foundation
import HTTPTypes
package import Hummingbird
package import Journal
import NIOCore
import ScribeRuntime

/// The journal as an HTTP archive (HAR 1.2), which browsers and proxies open.
///
/// Frames of a socket are in `_webSocketMessages`, as in Chromium's archives.
package struct HARExport: Sendable {
    private let journal: Journal
    private let index: JournalIndex
    private let match: JournalMatch
    private let version: String

    /// - Parameter version: Version of the server.
    package init(of journal: Journal, _ index: JournalIndex, _ match: JournalMatch, version: String) {
        self.journal = journal
        self.index = index
        self.match = match
        self.version = version
    }

    /// The file, whose exchanges are each encoded when they are sent.
    package var body: ResponseBody {
        ResponseBody { writer in
            // A client that reads slowly holds no exchange that the journal has lost.
            let numbers = journal.entries.map(\.number)
            var isFirst = true
            try await writer.write(head)
            for number in numbers {
                guard let entry = journal[number] else { continue }
                let separator = isFirst ? "" : ","
                let piece = await EventLoopOffload.run(bytes: .max) { () -> ByteBuffer? in
                    let exchange = index.shown(number, entry)
                    return match.holds(for: exchange)
                        ? ByteBuffer(bytes: Array(separator.utf8) + exchange.har.bytes) : nil
                }
                guard let piece else { continue }
                isFirst = false
                try await writer.write(piece)
            }
            try await writer.write(ByteBuffer(string: "]}}\n"))
            try await writer.finish(nil)
        }
    }

    private var head: ByteBuffer {
        let comment = "Words and names that were sent are in this file. Credentials are masked."
        let head: JSON = [
            "version": "1.2", "creator": ["name": "scribe-emulator", "version": .string(version)],
            "comment": .string(comment),
        ]
        return ByteBuffer(bytes: Array(#"{"log":"#.utf8) + head.bytes.dropLast() + Array(#","entries":["#.utf8))
    }
}

extension ShownExchange {
    fileprivate var har: JSON {
        let exchange = exchange
        let time = exchange.endedAt.map { Self.milliseconds(from: exchange.startedAt, $0) } ?? 0
        let isSocket = exchange.kind == .socket
        return [
            "startedDateTime": .string(Self.time(exchange.startedAt)), "time": .number(time),
            "request": harRequest, "response": harResponse, "cache": [:],
            "timings": ["send": 0, "wait": .number(time), "receive": 0],
            "_number": .integer(number), "_kind": .string(exchange.kind.rawValue),
            "_operation": operation.map(JSON.string), "_fault": exchange.fault.map(JSON.string),
            "comment": exchange.reason.map { .string(SecretMask.text($0)) },
            "_resourceType": isSocket ? "websocket" : nil,
            "_webSocketMessages": isSocket ? .array(exchange.frames.compactMap(harMessage)) : nil,
        ]
    }

    private var url: String {
        let scheme = request.scheme ?? "http"
        let text = (path ?? exchange.route ?? "/") + (query.map { "?\($0)" } ?? "")
        return "\(scheme)://\(request.authority ?? "localhost")\(exchange.prefix)\(text)"
    }

    private var harRequest: JSON {
        let headers = requestFields
        let parameters = (query ?? "").split(separator: "&").map { part in
            part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        }
        let queryString = JSON.array(parameters) {
            ["name": .string($0[0]), "value": .string($0.count > 1 ? $0[1] : "")]
        }
        let postData = requestBody.map { body -> JSON in
            [
                "mimeType": .string(headers[.contentType] ?? ""), "params": [],
                "text": .string(body.shownText ?? ""), "comment": body.comment,
            ]
        }
        return [
            "method": .string(request.method.rawValue), "url": .string(url), "httpVersion": "HTTP/1.1", "cookies": [],
            "headers": Self.har(headers), "queryString": queryString, "headersSize": -1,
            "bodySize": .integer(requestBody?.size ?? 0), "postData": postData,
        ]
    }

    private var harResponse: JSON {
        let headers = response?.headerFields ?? [:]
        let body = exchange.responseBody
        return [
            // As in a browser's archive: no answer is status 0.
            "status": .integer(status ?? 0), "statusText": .string(response?.status.reasonPhrase ?? ""),
            "httpVersion": "HTTP/1.1", "cookies": [], "headers": Self.har(headers),
            "content": [
                "size": .integer(body?.size ?? 0), "mimeType": .string(headers[.contentType] ?? ""),
                "text": body?.shownText.map(JSON.string), "comment": body?.comment,
            ],
            "redirectURL": .string(SecretMask.text(headers[.location] ?? "")), "headersSize": -1,
            "bodySize": .integer(body?.size ?? 0),
        ]
    }

    private static func har(_ headers: HTTPFields) -> JSON {
        .array(headers) { ["name": .string($0.name.rawName), "value": .string(SecretMask.value(of: $0))] }
    }

    private func harMessage(_ frame: RecordedFrame) -> JSON? {
        let (opcode, data): (Int, String)
        switch frame.content {
        case .text(let body): (opcode, data) = (1, body.shownText ?? "")
        case .binary(let body): (opcode, data) = (2, "\(body.size) bytes, sha256 \(body.sha256 ?? "-")")
        case .close(let code, let reason): (opcode, data) = (8, "\(code) \(reason)")
        case .ping, .pong: return nil
        }
        return [
            "type": frame.sender == .client ? "send" : "receive",
            "time": .number(frame.time.timeIntervalSince1970), "opcode": .integer(opcode), "data": .string(data),
        ]
    }
}

extension RecordedBody {
    /// Reason that the text is not there, or not whole.
    fileprivate var comment: JSON? {
        if text == nil {
            let digest = md5.map { ", md5 \($0)" } ?? sha256.map { ", sha256 \($0)" }
            return .string("\(size) bytes" + (digest ?? ""))
        }
        return isTruncated ? .string("the first \(JournalSettings.bodyLimit) of \(size) bytes") : nil
    }
}
