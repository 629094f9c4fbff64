import Basics
import Foundation
package import NIOCore
package import NIOPosix
import ObjectStorage

/// A snapshot as one file, in the format of tar: `manifest.json`, `scribe.sqlite`, then `objects/NAME` for each file.
package struct SnapshotArchive: Sendable {
    private let entries: [(entry: TarEntry, path: String)]
    private let threads: NIOThreadPool
    /// Keeps the files from removal until the archive is written.
    private let reading: any Sendable

    /// Reads the list of the files and their sizes. Blocking.
    /// - Parameter reading: an object that keeps the files from removal as long as it lives.
    /// - Throws: ``SnapshotProblem``, or SQLite's error.
    package init(_ snapshot: SnapshotFolder, reading: any Sendable = (), on threads: NIOThreadPool) throws {
        self.threads = threads
        self.reading = reading
        let own = [("manifest.json", snapshot.manifestPath), ("scribe.sqlite", snapshot.databasePath)]
        let files = try snapshot.files().map { ("objects/\($0.name)", snapshot.path(of: $0.name)) }
        entries = try (own + files).map { name, path in
            guard let size = FileSystem.size(ofFile: path) else {
                throw SnapshotProblem.damaged("a file is missing")
            }
            return (TarEntry(name: name, size: size), path)
        }
    }

    /// Size of the archive in bytes.
    package var size: Int {
        entries.reduce(TarEntry.endSize) { $0 + TarEntry.headerSize + $1.entry.size + $1.entry.padding }
    }

    /// Pieces of an archive, in order.
    package struct Pieces {
        private let reading: any Sendable
        private let threads: NIOThreadPool
        private var rest: ArraySlice<(entry: TarEntry, path: String)>
        private var open: (file: FileObjectReader, entry: TarEntry, place: Int)?
        private var hasEnded = false

        fileprivate init(_ archive: SnapshotArchive) {
            reading = archive.reading
            threads = archive.threads
            rest = archive.entries[...]
        }

        /// Reads the next piece; nil at the end.
        /// - Throws: ``SnapshotProblem`` where a file is gone or cut off; the error of the file system.
        package mutating func next() async throws -> ByteBuffer? {
            if let (file, entry, place) = open {
                guard place < entry.size else {
                    open = nil
                    guard entry.padding > 0 else { return try await next() }
                    return ByteBuffer(repeating: 0, count: entry.padding)
                }
                let piece = try await file.read(place..<entry.size)
                guard piece.readableBytes > 0 else { throw SnapshotProblem.damaged("a file is cut off") }
                open?.place = place + piece.readableBytes
                return piece
            }
            guard let (entry, path) = rest.popFirst() else {
                defer { hasEnded = true }
                return hasEnded ? nil : ByteBuffer(repeating: 0, count: TarEntry.endSize)
            }
            let file = try await threads.runIfActive { [threads] in
                try FileObjectReader(path, pieceSize: 256 << 10, on: threads)
            }
            open = (file, entry, 0)
            return ByteBuffer(bytes: entry.header)
        }
    }

    package func pieces() -> Pieces { Pieces(self) }
}
