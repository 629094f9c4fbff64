import Foundation
import HTTPTypes
import NIOCore
import ScribeDomain

extension Exchange {
    /// Reads a ``PackedExchange``.
    init(packed bytes: ByteBuffer, repeated: RepeatedAnswer?) {
        var bytes = bytes
        let startedAt = bytes.date() ?? .distantPast
        let (endedAt, end) = (bytes.date(), bytes.text())
        let (head, requestBody) = (bytes.head(), bytes.body())
        let answer = bytes.text().map { phrase in
            (status: HTTPResponse.Status(code: bytes.number(), reasonPhrase: phrase), fields: bytes.fields())
        }
        let collected = bytes.body()
        let (prefix, requestID) = (bytes.text() ?? "", bytes.text() ?? "")
        self.init(.request, head, at: startedAt, prefix: prefix, requestID: requestID)
        (self.endedAt, self.end) = (endedAt, end.flatMap(End.init))
        (self.requestBody, self.answer) = (requestBody, answer)
        (collectedBody, self.repeated) = (collected, repeated)
        endpoint = bytes.text()
        family = bytes.text()
        operation = bytes.text()
        reason = bytes.text()
        fault = bytes.text()
        transaction = bytes.text().map(TransactionID.init)
        principal = bytes.principal()
        ignored = bytes.remarks()
        findings = bytes.remarks()
    }

    /// Start of the exchange whose bytes begin at an index.
    static func start(packed bytes: ByteBuffer, at index: Int) -> Date {
        var bytes = bytes
        bytes.moveReaderIndex(to: index)
        return bytes.date() ?? .distantPast
    }
}

extension ByteBuffer {
    fileprivate mutating func number() -> Int { readInteger(endianness: .host) ?? 0 }

    fileprivate mutating func date() -> Date? {
        let seconds = Double(bitPattern: readInteger(endianness: .host) ?? Double.nan.bitPattern)
        return seconds.isNaN ? nil : Date(timeIntervalSinceReferenceDate: seconds)
    }

    fileprivate mutating func text() -> String? {
        let count = number()
        return count < 0 ? nil : readString(length: count)
    }

    fileprivate mutating func fields() -> HTTPFields {
        var fields = HTTPFields()
        for _ in 0..<number() {
            guard let name = text().flatMap({ HTTPField.Name($0) }), let value = text() else { break }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }

    fileprivate mutating func head() -> RecordedHead {
        let kind = number()
        guard kind == 0 else { return .bytes(SentHead(readBytes(length: number()) ?? [], isSecure: kind == 1)) }
        var request = HTTPRequest(
            method: text().flatMap { HTTPRequest.Method($0) } ?? .get, scheme: text(), authority: text(), path: text())
        request.headerFields = fields()
        return .fields(request)
    }

    fileprivate mutating func body() -> RecordedBody? {
        let size = number()
        guard size >= 0 else { return nil }
        let (md5, isWhole, length) = (text(), number() == 1, number())
        var body = RecordedBody(size: size)
        (body.md5, body.isWhole) = (md5, isWhole)
        if length >= 0 { body.text = readSlice(length: length) }
        return body
    }

    fileprivate mutating func principal() -> Principal? {
        text().map { business in
            Principal(businessID: business, userID: text() ?? "", doctorID: text() ?? "", clientID: text() ?? "")
        }
    }

    fileprivate mutating func remarks() -> [Remark] { (0..<number()).map { _ in Remark(text() ?? "", text() ?? "") } }
}
