import Basics
import NIOCore
import SystemPackage

/// Reads a tar archive, which anybody may have written, in pieces of any size. It takes regular files alone, and writes
/// them where its owner says.
package struct TarReader: Sendable {
    private enum Place {
        case header
        case file(rest: Int, padding: Int)
        case padding(Int)
        /// Blocks of zeros, of which this many bytes were read.
        case end(Int)
    }

    private var place = Place.header
    private var header: [UInt8] = []
    private var file: SystemPackage.FileDescriptor?
    private var isEmpty = true

    /// Reads a whole archive from a file. Blocking.
    /// - Parameter path: the path that an entry's bytes are written to.
    /// - Throws: ``SnapshotProblem``, the error of `path`, or that of the file system.
    package static func read(_ archive: String, to path: (TarEntry) throws -> String) throws {
        let source = try SystemPackage.FileDescriptor.open(
            FilePath(archive), .readOnly, options: [.nonBlocking, .closeOnExec])
        try source.closeAfter {
            var reader = TarReader()
            defer { reader.close() }
            while true {
                var buffer = ByteBuffer()
                try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 256 << 10) { try source.read(into: $0) }
                guard buffer.readableBytes > 0 else { return try reader.requireEnd() }
                try reader.read(buffer, to: path)
            }
        }
    }

    /// - Throws: ``SnapshotProblem``.
    func requireEnd() throws(SnapshotProblem) {
        guard case .end(let zeros) = place, zeros >= TarEntry.endSize else {
            // A file of another kind that is shorter than a header.
            throw isEmpty ? .foreign : .damaged("its end is missing")
        }
    }

    /// Closes the open file of an archive that is given up.
    mutating func close() {
        try? file?.close()
        file = nil
    }

    /// Reads the next bytes.
    /// - Parameter path: the path that an entry's bytes are written to.
    mutating func read(_ bytes: ByteBuffer, to path: (TarEntry) throws -> String) throws {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            switch place {
            case .header:
                let count = min(TarEntry.headerSize - header.count, bytes.readableBytes)
                header += bytes.readBytes(length: count) ?? []
                guard header.count == TarEntry.headerSize else { return }
                defer { header = [] }
                if header.allSatisfy({ $0 == 0 }) {
                    place = .end(TarEntry.headerSize)
                } else {
                    try begin(try TarEntry(header: header[...]), path)
                }
            case .file(let rest, let padding):
                let piece = bytes.readSlice(length: min(rest, bytes.readableBytes)) ?? ByteBuffer()
                try file?.writeAll(piece.readableBytesView)
                place = .file(rest: rest - piece.readableBytes, padding: padding)
                if rest == piece.readableBytes { end(padding: padding) }
            case .padding(let rest):
                let count = min(rest, bytes.readableBytes)
                bytes.moveReaderIndex(forwardBy: count)
                place = rest == count ? .header : .padding(rest - count)
            case .end(let zeros):
                // tar fills the last record of 10 KB.
                guard zeros + bytes.readableBytes <= 20 * TarEntry.headerSize,
                    bytes.readableBytesView.allSatisfy({ $0 == 0 })
                else { throw SnapshotProblem.damaged("there is more behind its end") }
                place = .end(zeros + bytes.readableBytes)
                return
            }
        }
    }

    private mutating func begin(_ entry: TarEntry, _ path: (TarEntry) throws -> String) throws {
        isEmpty = false
        file = try FileSystem.newFile(path(entry), [.exclusiveCreate, .noFollow])
        place = .file(rest: entry.size, padding: entry.padding)
        if entry.size == 0 { end(padding: entry.padding) }
    }

    private mutating func end(padding: Int) {
        close()
        place = padding > 0 ? .padding(padding) : .header
    }
}
