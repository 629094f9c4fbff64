import Foundation
package import NIOCore
package import NIOPosix
import ScribeDomain
import SystemPackage

/// Reads a snapshot's archive, which anybody may have written, into a folder. Nothing but the files of a snapshot is
/// taken, each once, in the order in which ``SnapshotArchive`` writes them.
package struct SnapshotImport: Sendable {
    private enum Place {
        case header
        case file(rest: Int, padding: Int)
        case padding(Int)
        /// Blocks of zeros, of which this many bytes were read.
        case end(Int)
    }

    private let folder: SnapshotFolder
    /// Maximum number of bytes of all files.
    private let limit: Int?
    private let threads: NIOThreadPool
    private var place = Place.header
    private var header: [UInt8] = []
    private var file: SystemPackage.FileDescriptor?
    private var names: Set<String> = []
    private var total = 0
    /// Number of files with uploads, as the manifest counts them.
    private var mostFiles = 0

    /// - Parameters:
    ///   - folder: an empty folder.
    ///   - limit: maximum number of bytes of all files; nil for none.
    package init(into folder: SnapshotFolder, limit: Int?, on threads: NIOThreadPool) {
        self.folder = folder
        self.limit = limit
        self.threads = threads
    }

    /// Reads an archive from a file. Blocking.
    /// - Throws: ``SnapshotProblem``, or the error of the file system.
    package static func read(file path: String, into folder: SnapshotFolder, limit: Int?) throws {
        let source = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
        var reader = SnapshotImport(into: folder, limit: limit, on: .singleton)
        do {
            while true {
                var buffer = ByteBuffer()
                try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 256 << 10) { try source.read(into: $0) }
                guard buffer.readableBytes > 0 else { break }
                try reader.read(buffer)
            }
            try source.close()
            try reader.requireEnd()
            try folder.check()
        } catch {
            reader.close()
            try? source.close()
            throw error
        }
    }

    /// Takes the next bytes of the archive.
    /// - Throws: ``SnapshotProblem``, ``ScribeError/storageUnavailable(cause:)``. The import is over then, and callers
    ///   remove the folder.
    package mutating func take(_ bytes: ByteBuffer) async throws {
        // Copied in and out, because blocking work runs on a thread of the pool.
        self = try await StorageFailure.translatingErrors {
            try await threads.runIfActive { [self] in
                var next = self
                do {
                    try next.read(bytes)
                } catch {
                    next.close()
                    throw error
                }
                return next
            }
        }
    }

    /// Ends the archive, and checks all of it.
    /// - Throws: ``SnapshotProblem``.
    package mutating func finish() async throws {
        try requireEnd()
        try await StorageFailure.translatingErrors {
            try await threads.runIfActive { [folder] in
                try folder.check()
            }
        }
    }

    private mutating func requireEnd() throws {
        guard case .end(let zeros) = place, zeros >= TarEntry.endSize else {
            close()
            // A file of another kind that is shorter than a header.
            guard !names.isEmpty else { throw SnapshotProblem.foreign }
            throw SnapshotProblem.damaged("its end is missing")
        }
        guard names.count >= 2 else { throw SnapshotProblem.foreign }
    }

    /// Closes the open file of an import that is given up.
    package mutating func close() {
        try? file?.close()
        file = nil
    }

    private mutating func read(_ bytes: ByteBuffer) throws {
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
                    try begin(try TarEntry(header: header[...]))
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

    private mutating func begin(_ entry: TarEntry) throws {
        let path = try path(for: entry)
        let (sum, isTooLarge) = total.addingReportingOverflow(entry.size)
        total = sum
        if isTooLarge || limit.map({ sum > $0 }) ?? false { throw SnapshotProblem.beyondQuota(limit: limit ?? .max) }
        file = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: .ownerReadWrite)
        place = .file(rest: entry.size, padding: entry.padding)
        if entry.size == 0 { end(padding: entry.padding) }
    }

    private mutating func end(padding: Int) {
        close()
        place = padding > 0 ? .padding(padding) : .header
    }

    /// The path that an entry's bytes are written to.
    private mutating func path(for entry: TarEntry) throws -> String {
        let wanted = ["manifest.json", "scribe.sqlite"]
        guard names.insert(entry.name).inserted else { throw SnapshotProblem.damaged("a file is there twice") }
        if names.count <= wanted.count {
            guard entry.name == wanted[names.count - 1], entry.name != wanted[0] || entry.size <= SnapshotManifest.limit
            else { throw SnapshotProblem.foreign }
            // Refuses a foreign or newer snapshot before the rest of it arrives.
            if names.count == 2 { mostFiles = try folder.manifest().objects }
            return names.count == 1 ? folder.manifestPath : folder.databasePath
        }
        let prefix = "objects/"
        let name = entry.name.dropFirst(prefix.count)
        guard entry.name.hasPrefix(prefix), ObjectFiles.isName(name) else { throw SnapshotProblem.foreign }
        guard names.count - wanted.count <= mostFiles else {
            throw SnapshotProblem.damaged("it has more files than its manifest counts")
        }
        return folder.path(of: String(name))
    }
}

extension ObjectFiles {
    /// Whether a text can be a name of ``freshName()``.
    ///
    /// A name has letters, digits and hyphens, and dots behind the first two characters, which name a folder.
    static func isName(_ text: some StringProtocol) -> Bool {
        (3...80).contains(text.utf8.count)
            && text.utf8.enumerated().allSatisfy { index, byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                    true
                case UInt8(ascii: "."): index >= 2
                default: false
                }
            }
    }
}
