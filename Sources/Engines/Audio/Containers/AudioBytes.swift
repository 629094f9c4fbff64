package import Foundation
package import NIOCore
import NIOFoundationCompat
import SystemPackage

/// Bytes of an audio file, read by position. A read beyond the end returns nil, so that a truncated file
/// yields no data instead of a crash.
package struct AudioBytes: Sendable {
    /// Size in bytes up to which a file is read instead of mapped: for small files mapping costs more than reading.
    private static let largestRead = 1 << 20

    private let data: Data

    package init(_ data: Data) { self.data = data }

    /// The bytes from a position on. They are not copied.
    func suffix(from position: Int) -> AudioBytes { AudioBytes(data.dropFirst(position)) }

    /// The bytes of a buffer. They are not copied.
    package init(_ buffer: ByteBuffer) { data = Data(buffer: buffer, byteTransferStrategy: .noCopy) }

    /// Opens a file: a chunk is read, a long recording is mapped. Blocks, so never call it on the cooperative pool.
    package init(file path: String) throws {
        // `FileManager` also looks up the file's owner, which costs more than the read.
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        defer { try? file.close() }
        let size = Int(try file.seek(offset: 0, from: .end))
        guard size <= Self.largestRead else {
            data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
            return
        }
        // An empty `Data` of this size would be filled with zeros first.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size), alignment: 1)
        do {
            let count = try file.read(fromAbsoluteOffset: 0, into: memory)
            data =
                memory.baseAddress.map { start in
                    Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in start.deallocate() })
                } ?? Data()
        } catch {
            memory.deallocate()
            throw error
        }
    }

    package var count: Int { data.count }

    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value { data.withUnsafeBytes(body) }

    func byte(at position: Int) -> UInt8? {
        position >= 0 && position < data.count ? data[data.startIndex + position] : nil
    }

    /// Reads an unsigned big-endian number of `size` bytes, 1 to 8.
    func unsigned(at position: Int, size: Int) -> UInt64? {
        guard position >= 0, size <= data.count, position <= data.count - size else { return nil }
        var value: UInt64 = 0
        let start = data.startIndex + position
        for offset in 0..<size { value = value << 8 | UInt64(data[start + offset]) }
        return value
    }

    func uint32(at position: Int) -> UInt32? { unsigned(at: position, size: 4).map(UInt32.init(truncatingIfNeeded:)) }

    func uint16LittleEndian(at position: Int) -> UInt16? {
        unsigned(at: position, size: 2).map { UInt16(truncatingIfNeeded: $0).byteSwapped }
    }

    func uint32LittleEndian(at position: Int) -> UInt32? { uint32(at: position)?.byteSwapped }

    func uint64LittleEndian(at position: Int) -> UInt64? { unsigned(at: position, size: 8)?.byteSwapped }

    /// Reads ASCII text of `count` bytes; nil if other bytes are among them.
    func text(at position: Int, count: Int) -> String? {
        guard position >= 0, count <= data.count, position <= data.count - count else { return nil }
        let slice = data.dropFirst(position).prefix(count)
        guard slice.allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(decoding: slice, as: UTF8.self)
    }

    /// Finds the first position at or behind `start` where `pattern` begins.
    func firstPosition(of pattern: [UInt8], from start: Int) -> Int? {
        guard start < data.count else { return nil }
        if data.dropFirst(start).starts(with: pattern) { return start }
        return data.range(of: Data(pattern), in: data.startIndex + start..<data.endIndex)
            .map { $0.lowerBound - data.startIndex }
    }
}
