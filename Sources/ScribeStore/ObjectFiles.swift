import Foundation
import Glibc
package import NIOPosix
import SystemPackage

/// The bytes of the uploads, each in a file with a fresh name that no client chose.
///
/// A file belongs to an object from the moment its row says so; before that, and after the row is gone, it is nothing.
package struct ObjectFiles: Sendable {
    private let folder: String
    let durability: Store.Durability
    let pool: NIOThreadPool

    /// - Parameters:
    ///   - folder: an existing folder that holds nothing else.
    ///   - pool: threads that may block.
    package init(folder: String, durability: Store.Durability, pool: NIOThreadPool) {
        self.folder = folder
        self.durability = durability
        self.pool = pool
    }

    /// Where the bytes of `file` are.
    package func path(of file: String) -> String { "\(folder)/\(file.prefix(2))/\(file)" }

    /// Begins a new file.
    /// - Parameters:
    ///   - file: a fresh name of at least three letters.
    ///   - checksums: those that are wanted besides the MD5.
    package func create(_ file: String, checksums: Set<ChecksumAlgorithm> = []) -> ObjectWriter {
        ObjectWriter(path: path(of: file), checksums: checksums, files: self)
    }

    /// Opens a file for reading; nil when it is not there any more.
    package func open(_ file: String) async throws -> ObjectReader? {
        let path = path(of: file)
        let descriptor: SystemPackage.FileDescriptor? = try await pool.runIfActive {
            do {
                return try .open(FilePath(path), .readOnly, options: .closeOnExec)
            } catch Errno.noSuchFileOrDirectory {
                return nil
            }
        }
        return descriptor.map { ObjectReader(descriptor: $0, pool: pool) }
    }

    /// Writes the bytes of `parts` one after another into a new file, and returns how many they are.
    package func join(_ parts: [String], into file: String) async throws -> Int {
        var writer = create(file)
        do {
            for part in parts {
                let path = path(of: part)
                try await writer.append(contentsOf: path)
            }
            return try await writer.finish().size
        } catch {
            await writer.discard()
            throw error
        }
    }

    /// Removes files that no object refers to any more.
    package func remove(_ files: [String]) async {
        let paths = files.map(path(of:))
        _ = try? await pool.runIfActive { for path in paths { unlink(path) } }
    }

    /// The names of all files there are.
    package func all() async throws -> [String] {
        let folder = folder
        return try await pool.runIfActive {
            try FileManager.default.contentsOfDirectory(atPath: folder).flatMap {
                try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\($0)")
            }
        }
    }

    func syncFolder(of path: String) throws {
        let parent = (path as NSString).deletingLastPathComponent
        for folder in [parent, folder] {
            let descriptor = try FileDescriptor.open(FilePath(folder), .readOnly, options: [.directory, .closeOnExec])
            try descriptor.closeAfter {
                guard fsync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
        }
    }
}
