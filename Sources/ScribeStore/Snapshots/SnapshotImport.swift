import Basics
import Foundation
package import NIOCore
package import NIOPosix
import ObjectStorage

/// Reads a snapshot's archive, which anybody may have written, into a folder. Nothing but the files of a snapshot is
/// taken, each once, in the order in which ``SnapshotArchive`` writes them.
package struct SnapshotImport: Sendable {
    private var files: Files
    private var reader = TarReader()
    private let threads: NIOThreadPool

    /// - Parameters:
    ///   - folder: an empty folder.
    ///   - limit: maximum number of bytes of all files; nil for none.
    package init(into folder: SnapshotFolder, limit: Int?, on threads: NIOThreadPool) {
        files = Files(folder: folder, limit: limit)
        self.threads = threads
    }

    /// Reads an archive from a file. Blocking.
    /// - Throws: ``SnapshotProblem``, or the error of the file system.
    package static func read(file path: String, into folder: SnapshotFolder, limit: Int?) throws {
        var files = Files(folder: folder, limit: limit)
        try TarReader.read(path) { try files.path(for: $0) }
        try files.check()
    }

    /// Takes the next bytes of the archive.
    /// - Throws: ``SnapshotProblem``, ``ScribeError/storageUnavailable(cause:)``. The import is over then, and callers
    ///   remove the folder.
    package mutating func take(_ bytes: ByteBuffer) async throws {
        // Copied in and out, because blocking work runs on a thread of the pool.
        (reader, files) = try await StorageFailure.translatingErrors {
            try await threads.runIfActive { [reader, files] in
                var (reader, files) = (reader, files)
                do {
                    try reader.read(bytes) { try files.path(for: $0) }
                } catch {
                    reader.close()
                    throw error
                }
                return (reader, files)
            }
        }
    }

    /// Ends the archive, and checks all of it.
    /// - Throws: ``SnapshotProblem``.
    package mutating func finish() async throws {
        defer { close() }
        try reader.requireEnd()
        try await StorageFailure.translatingErrors {
            try await threads.runIfActive { [files] in
                try files.check()
            }
        }
    }

    /// Closes the open file of an import that is given up.
    package mutating func close() { reader.close() }
}

extension SnapshotImport {
    /// Files of the archive so far.
    private struct Files: Sendable {
        let folder: SnapshotFolder
        /// Maximum number of bytes of all files.
        let limit: Int?
        private var names: Set<String> = []
        private var total = 0
        /// Number of files with uploads, as the manifest counts them.
        private var maxFiles = 0

        init(folder: SnapshotFolder, limit: Int?) {
            self.folder = folder
            self.limit = limit
        }

        func check() throws {
            guard names.count >= 2 else { throw SnapshotProblem.foreign }
            try folder.check()
        }

        /// The path that an entry's bytes are written to.
        mutating func path(for entry: TarEntry) throws -> String {
            let path = try place(of: entry)
            total = [total, entry.size].total(\.self)
            if let limit, total > limit { throw SnapshotProblem.beyondQuota(limit: limit) }
            return path
        }

        private mutating func place(of entry: TarEntry) throws -> String {
            let wanted = ["manifest.json", "scribe.sqlite"]
            guard names.insert(entry.name).inserted else { throw SnapshotProblem.damaged("a file is there twice") }
            if names.count <= wanted.count {
                guard entry.name == wanted[names.count - 1],
                    entry.name != wanted[0] || entry.size <= SnapshotManifest.limit
                else { throw SnapshotProblem.foreign }
                // Refuses a foreign or newer snapshot before the rest of it arrives.
                if names.count == 2 { maxFiles = try folder.manifest().objects }
                return names.count == 1 ? folder.manifestPath : folder.databasePath
            }
            let prefix = "objects/"
            let name = entry.name.dropFirst(prefix.count)
            guard entry.name.hasPrefix(prefix), ObjectFiles.isName(name) else { throw SnapshotProblem.foreign }
            guard names.count - wanted.count <= maxFiles else {
                throw SnapshotProblem.damaged("it has more files than its manifest counts")
            }
            return folder.path(of: String(name))
        }
    }
}
