import Foundation
import HTTPTypes
import NIOCore
import ScribeDomain

/// Request with its answer in one piece of memory, as a journal keeps it once it has ended.
///
/// An exchange consists of a dozen objects. Those of ten thousand exchanges do not fit into the caches of a processor:
/// to release the oldest exchange took longer than to record the newest. `Exchange(packed:repeated:)` reads the bytes.
struct PackedExchange: Sendable {
    let bytes: [UInt8]
    /// Answer that the exchange shares with others.
    let repeated: RepeatedAnswer?

    /// Memory of an exchange in a journal beside its bytes.
    static let overhead = 100

    /// - Parameter limit: Most bytes that the exchange takes.
    /// - Returns: nil for a socket, a delivery, a body whose hash is still open, and a larger exchange.
    init?(_ exchange: borrowing Exchange, upTo limit: Int) {
        guard exchange.kind == .request, exchange.frames.isEmpty, exchange.framesLeftOut == 0,
            exchange.delivery == nil, exchange.playback == nil,
            exchange.requestBody?.isHashing != true, exchange.collectedBody?.isHashing != true
        else { return nil }
        repeated = exchange.repeated
        var isFull = false
        bytes = [UInt8](unsafeUninitializedCapacity: limit) { space, count in
            var packer = Packer(space: UnsafeMutableRawBufferPointer(space))
            packer.add(exchange)
            (count, isFull) = (packer.count, packer.isFull)
        }
        if isFull { return nil }
    }
}

/// Writer into memory of a fixed size. The calls of an array cost twice as much as what is written.
private struct Packer {
    let space: UnsafeMutableRawBufferPointer
    var count = 0
    /// True once something did not fit.
    var isFull = false

    mutating func add(_ exchange: borrowing Exchange) {
        add(exchange.startedAt)
        add(exchange.endedAt)
        add(exchange.end?.rawValue)
        add(exchange.head)
        add(exchange.requestBody)
        add(exchange.answer?.status.reasonPhrase)
        if let answer = exchange.answer {
            add(answer.status.code)
            add(answer.fields)
        }
        add(exchange.collectedBody)
        add(exchange.prefix)
        add(exchange.requestID)
        add(exchange.endpoint)
        add(exchange.family)
        add(exchange.operation)
        add(exchange.reason)
        add(exchange.fault)
        add(exchange.transaction?.rawValue)
        add(exchange.principal)
        add(exchange.ignored)
        add(exchange.findings)
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard space.count - count >= bytes.count else { return isFull = true }
        UnsafeMutableRawBufferPointer(rebasing: space[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    private mutating func add(_ bits: UInt64) {
        guard space.count - count >= 8 else { return isFull = true }
        space.storeBytes(of: bits, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    private mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }

    /// Not a number stands for a date that is missing.
    private mutating func add(_ date: Date?) { add((date?.timeIntervalSinceReferenceDate ?? .nan).bitPattern) }

    private mutating func add(_ text: String?) {
        guard var text else { return add(-1) }
        text.withUTF8 { utf8 in
            add(utf8.count)
            add(UnsafeRawBufferPointer(utf8))
        }
    }

    private mutating func add(_ fields: HTTPFields) {
        add(fields.count)
        for field in fields {
            add(field.name.rawName)
            add(field.value)
        }
    }

    private mutating func add(_ head: RecordedHead) {
        switch head {
        case .bytes(let head):
            add(head.isSecure ? 1 : 2)
            add(head.bytes.count)
            head.bytes.withUnsafeBytes { add($0) }
        case .fields(let request):
            add(0)
            add(request.method.rawValue)
            add(request.scheme)
            add(request.authority)
            add(request.path)
            add(request.headerFields)
        }
    }

    private mutating func add(_ body: RecordedBody?) {
        guard let body else { return add(-1) }
        add(body.size)
        add(body.md5)
        add(body.isWhole ? 1 : 0)
        add(body.text?.readableBytes ?? -1)
        body.text?.withUnsafeReadableBytes { add($0) }
    }

    private mutating func add(_ principal: Principal?) {
        add(principal?.business.rawValue)
        guard let principal else { return }
        add(principal.user.rawValue)
        add(principal.doctor.rawValue)
        add(principal.client.rawValue)
    }

    private mutating func add(_ remarks: [Remark]) {
        add(remarks.count)
        for remark in remarks {
            add(remark.place)
            add(remark.problem)
        }
    }
}
