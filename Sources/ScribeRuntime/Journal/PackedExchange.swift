import Foundation
import HTTPTypes
import NIOCore
import ScribeDomain

/// An ended request with its answer, in one piece of memory.
///
/// A journal writes each one over the bytes of one that has left it. So a full journal neither allocates nor frees, and
/// no thread frees what another one has allocated: that cost a poll a tenth of its rate.
package struct PackedExchange: Sendable {
    private(set) var bytes: [UInt8]

    /// - Parameters:
    ///   - exchange: ``canHold(_:)`` must hold.
    ///   - bytes: memory to write over.
    init(_ exchange: Exchange, reusing bytes: consuming [UInt8]) {
        self.bytes = bytes
        self.bytes.removeAll(keepingCapacity: true)
        add(exchange.startedAt.timeIntervalSinceReferenceDate.bitPattern)
        add(exchange.endedAt.map(\.timeIntervalSinceReferenceDate.bitPattern) ?? .max)
        add(exchange.end == .cut ? 1 : 0)
        exchange.requestHead.pack(into: &self.bytes)
        add(exchange.responseHead == nil ? 0 : 1)
        exchange.responseHead?.pack(into: &self.bytes)
        add(exchange.requestBody)
        add(exchange.responseBody)
        for text in [
            exchange.prefix, exchange.route, exchange.family, exchange.operation, exchange.requestID, exchange.reason,
            exchange.fault, exchange.playback, exchange.principal?.business.rawValue,
            exchange.principal?.user.rawValue, exchange.principal?.doctor.rawValue,
            exchange.principal?.client.rawValue,
        ] { self.bytes.pack(text) }
    }

    /// Whether an exchange has nothing but a request and its answer.
    static func canHold(_ exchange: Exchange) -> Bool {
        exchange.kind == .request && exchange.frames.isEmpty && exchange.framesLeftOut == 0
            && exchange.delivery == nil && exchange.transaction == nil
    }

    /// Memory of the exchange in a journal, in bytes.
    var size: Int { bytes.capacity + 160 }

    private mutating func add(_ number: UInt64) { bytes.pack(number) }

    private mutating func add(_ body: RecordedBody?) {
        guard let body else { return bytes.pack(.max) }
        bytes.pack(UInt64(body.size))
        bytes.pack(body.digest)
        bytes.pack(body.text?.readableBytesView)
    }

    /// The exchange as it was.
    var exchange: Exchange {
        var reader = PackedReader(bytes: bytes[...])
        let startedAt = Date(timeIntervalSinceReferenceDate: Double(bitPattern: reader.number()))
        let endedAt = reader.number()
        let end: Exchange.End = reader.number() == 1 ? .cut : .whole
        let request = RecordedHead(&reader)
        let response = reader.number() == 1 ? RecordedHead(&reader) : nil
        var exchange = Exchange(.request, request, response, at: startedAt)
        exchange.endedAt =
            endedAt == .max ? nil : Date(timeIntervalSinceReferenceDate: Double(bitPattern: endedAt))
        exchange.end = end
        exchange.requestBody = Self.body(&reader)
        exchange.responseBody = Self.body(&reader)
        exchange.prefix = reader.text() ?? ""
        exchange.route = reader.text()
        exchange.family = reader.text()
        exchange.operation = reader.text()
        exchange.requestID = reader.text() ?? ""
        exchange.reason = reader.text()
        exchange.fault = reader.text()
        exchange.playback = reader.text()
        if let business = reader.text(), let user = reader.text(), let doctor = reader.text(),
            let client = reader.text()
        {
            exchange.principal = Principal(businessID: business, userID: user, doctorID: doctor, clientID: client)
        }
        return exchange
    }

    private static func body(_ reader: inout PackedReader) -> RecordedBody? {
        let size = reader.number()
        guard size != .max else { return nil }
        let digest = reader.bytes()
        return RecordedBody(size: Int(size), digest: digest, text: reader.bytes().map { ByteBuffer(bytes: $0) })
    }
}

/// Reads what `pack` wrote, in the same order.
struct PackedReader {
    private var rest: ArraySlice<UInt8>

    init(bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func number() -> UInt64 {
        defer { rest = rest.dropFirst(8) }
        return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func bytes() -> [UInt8]? {
        let count = number()
        guard count != .max else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return Array(rest.prefix(Int(count)))
    }

    mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }
}

extension [UInt8] {
    /// Adds a number, its lowest byte first.
    mutating func pack(_ number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    /// Adds bytes with their number; nil as a number that no count has.
    mutating func pack(_ bytes: (some Collection<UInt8>)?) {
        guard let bytes else { return pack(.max) }
        pack(UInt64(bytes.count))
        append(contentsOf: bytes)
    }

    mutating func pack(_ text: String?) { pack(text?.utf8) }
}
