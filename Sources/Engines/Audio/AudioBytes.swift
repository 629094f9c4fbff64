package import Foundation
import SystemPackage

/// Bytes of an audio file, read by position. Every read beyond the end answers nil, so that a file that was cut off
/// anywhere is a file that says nothing, never a crash.
package struct AudioBytes: Sendable {
    /// In bytes. To map and unmap a small file costs more than to read it.
    private static let largestRead = 1 << 20

    private let data: Data

    package init(_ data: Data) {
        // Rebased, so that position 0 is the first byte of a slice too.
        self.data = data.startIndex == 0 ? data : Data(data)
    }

    /// The file at `path`: a chunk is read, a long recording is mapped. Blocking: not for the cooperative pool.
    package init(file path: String) throws {
        self = try Self.read(path, upTo: .max) ?? AudioBytes(Data())
    }

    /// The same of a file that is no larger than `limit`, in bytes; nil for a larger one, of which nothing is read.
    static func read(_ path: String, upTo limit: Int) throws -> AudioBytes? {
        // Not by FileManager, which also looks up who owns the file: that costs more than to read it.
        let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        defer { try? file.close() }
        let size = Int(try file.seek(offset: 0, from: .end))
        guard size <= limit else { return nil }
        guard size <= largestRead else {
            return AudioBytes(try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped))
        }
        // Not into an empty `Data`, which would be filled with zeros first.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size), alignment: 1)
        do {
            let count = try file.read(fromAbsoluteOffset: 0, into: memory)
            return memory.baseAddress.map { start in
                AudioBytes(
                    Data(bytesNoCopy: start, count: count, deallocator: .custom { start, _ in start.deallocate() }))
            }
        } catch {
            memory.deallocate()
            throw error
        }
    }

    package var count: Int { data.count }

    func withData<Value>(_ body: (Data) -> Value) -> Value { body(data) }

    func byte(at position: Int) -> UInt8? {
        position >= 0 && position < data.count ? data[position] : nil
    }

    /// An unsigned big-endian number of `size` bytes, at most 8.
    func unsigned(at position: Int, size: Int) -> UInt64? {
        guard position >= 0, size <= data.count, position <= data.count - size else { return nil }
        var value: UInt64 = 0
        for offset in 0..<size { value = value << 8 | UInt64(data[position + offset]) }
        return value
    }

    func uint32(at position: Int) -> UInt32? { unsigned(at: position, size: 4).map(UInt32.init(truncatingIfNeeded:)) }

    func uint16LittleEndian(at position: Int) -> UInt16? {
        unsigned(at: position, size: 2).map { UInt16(truncatingIfNeeded: $0).byteSwapped }
    }

    func uint32LittleEndian(at position: Int) -> UInt32? { uint32(at: position)?.byteSwapped }

    func uint64LittleEndian(at position: Int) -> UInt64? { unsigned(at: position, size: 8)?.byteSwapped }

    /// ASCII text of `count` bytes, nil when other bytes are among them.
    func text(at position: Int, count: Int) -> String? {
        guard position >= 0, count <= data.count, position <= data.count - count else { return nil }
        let slice = data[position..<position + count]
        guard slice.allSatisfy({ $0 < 0x80 }) else { return nil }
        return String(decoding: slice, as: UTF8.self)
    }

    /// The last position at or before `end` at which `pattern` begins.
    func lastPosition(of pattern: [UInt8], atOrBefore end: Int) -> Int? {
        var position = min(end, data.count - pattern.count)
        while position >= 0 {
            if data[position] == pattern[0], data[position..<position + pattern.count].elementsEqual(pattern) {
                return position
            }
            position -= 1
        }
        return nil
    }
}
