package import Basics
package import Foundation
package import NIOPosix
import ScribeDomain
import SystemPackage

/// Object store in files: each upload is a file with a fresh name that no client chose.
///
/// A file belongs to an object from the moment its row says so. Before that, and after the row is gone, the file
/// belongs to nothing.
package final class ObjectFiles: ObjectStore {
    package let folder: String
    let durability: Durability
    package let received: ReceivedBytes?
    private let pool: NIOThreadPool
    private let names: ObjectNames
    /// Folder that a backup locks while it links files; nil without backups.
    private let guardedFolder: SystemPackage.FileDescriptor?
    private let heldBack = LockedValue<[String]>([])
    /// Number of tasks that need all files.
    private let keepers = LockedValue(0)

    /// Makes the object store in a folder.
    /// - Parameters:
    ///   - folder: an existing folder without other files.
    ///   - identifiers: source of the file names.
    ///   - pool: threads for blocking work.
    ///   - isBackedUp: whether backups may read the folder, which costs a descriptor.
    ///   - room: memory for small uploads; nil to keep none there.
    package init(
        folder: String, durability: Durability, identifiers: IdentifierSource, pool: NIOThreadPool,
        isBackedUp: Bool = true, room: ReceivedBytes.Room? = nil
    ) {
        self.folder = folder
        self.durability = durability
        received = room.map(ReceivedBytes.init(in:))
        self.pool = pool
        names = ObjectNames(identifiers)
        guardedFolder =
            isBackedUp
            ? try? FileDescriptor.open(FilePath(folder), .readOnly, options: [.directory, .closeOnExec]) : nil
    }

    deinit { try? guardedFolder?.close() }

    package var spool: ObjectFiles { self }

    package func freshName() -> String { names.next() }

    /// Lends the bytes of `file` as a local file, which stays unchanged until `body` ends.
    package func withLocalFile<Value: Sendable>(
        _ file: String, _ body: (String) async throws -> Value
    ) async throws -> Value {
        try await body(path(of: file))
    }

    func path(of file: String) -> String { "\(folder)/\(Self.relativePath(of: file))" }

    /// Path of a file below the folder of objects. Nothing else knows it.
    package static func relativePath(of file: String) -> String { "\(file.suffix(2))/\(file)" }

    /// Whether a text can be a name of ``freshName()``.
    ///
    /// A name has letters, digits and hyphens, and dots in its middle. Its last two characters name a folder.
    package static func isName(_ text: some StringProtocol) -> Bool {
        let count = text.utf8.count
        return (3...80).contains(count)
            && text.utf8.enumerated().allSatisfy { index, byte in
                byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-")
                    || byte == UInt8(ascii: ".") && index >= 2 && index < count - 2
            }
    }

    /// Makes the writer of a new file.
    /// - Parameters:
    ///   - file: a name from ``freshName()``.
    ///   - checksums: checksums to compute beside the MD5.
    package func create(
        _ file: String, checksums: Set<ChecksumAlgorithm>, arriving: ArrivingFile?
    ) -> any ObjectWriter {
        FileObjectWriter(file, checksums: checksums, files: self, received: received, arriving: arriving)
    }

    /// Opens a file for reading; nil when the file is gone.
    package func open(_ file: String) async throws -> (any ObjectReader)? {
        let path = path(of: file)
        let reader: FileObjectReader? = try await blocking { [pool] in
            do {
                return try FileObjectReader(path, on: pool)
            } catch Errno.noSuchFileOrDirectory {
                return nil
            }
        }
        return reader
    }

    /// Removes files that no object refers to. Files that a running backup may link stay until the next removal after
    /// the backup.
    package func remove(_ files: [String]) async {
        // Most uploads replace no file.
        guard !files.isEmpty || heldBack.withLock({ !$0.isEmpty }) else { return }
        received?.drop(files)
        let paths = files.map(path(of:))
        _ = try? await pool.runIfActive { [self] in
            guard mayRemove() else { return heldBack.withLock { $0 += paths } }
            let kept = heldBack.withLock { held in
                defer { held = [] }
                return held
            }
            for path in kept + paths { unlink(path) }
        }
    }

    package func keepingAll<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        keepers.withLock { $0 += 1 }
        let result = await outcome(of: body)
        keepers.withLock { $0 -= 1 }
        await remove([])
        return try result.get()
    }

    /// Links files, or copies them to another disk.
    package func lend(_ names: [String], to folder: String) async throws {
        try await blocking { [self] in
            for name in names { try FileSystem.link(path(of: name), as: "\(folder)/\(name)") }
        }
    }

    package func adopt(_ names: [String], from folder: String) async throws {
        try await blocking { [self] in
            for name in names {
                let path = path(of: name)
                try FileSystem.makeFolder((path as NSString).deletingLastPathComponent)
                try FileSystem.link("\(folder)/\(name)", as: path)
            }
            if durability == .full { sync() }
        }
    }

    /// Whether neither a snapshot needs all files nor a backup is linking files.
    ///
    /// A backup that begins later reads the current rows, which name none of the removed files.
    private func mayRemove() -> Bool {
        guard keepers.withLock({ $0 == 0 }) else { return false }
        guard let folder = guardedFolder?.rawValue else { return true }
        guard flock(folder, LOCK_SH | LOCK_NB) == 0 else { return false }
        flock(folder, LOCK_UN)
        return true
    }

    /// Lists files that may belong to no object, some hundred names at a time. Names that the server has not made, such
    /// as a volume's `lost+found`, are skipped.
    /// - Parameter time: not needed: the files of this start are known by their names.
    package func leftFiles(before time: Date?, _ body: ([String]) async throws -> Void) async throws {
        // Files of this start may not have their rows yet.
        let (folder, beginning) = (folder, names.beginning)
        var parts = try await blocking {
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.utf8.count == 2 }
        }[...]
        while !parts.isEmpty {
            // Reads folders until the batch is worth a query.
            let (files, rest) = try await blocking { [parts] in
                var (files, rest) = ([String](), parts)
                while files.count < Self.sweptAtOnce, let part = rest.popFirst() {
                    files += ((try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(part)")) ?? [])
                        .filter { $0.hasSuffix(part) && !$0.hasPrefix(beginning) && ObjectNames.isMade($0) }
                }
                return (files, rest)
            }
            parts = rest
            if !files.isEmpty { try await body(files) }
        }
    }

    private static let sweptAtOnce = 500

    /// Runs blocking work, and throws its failures as errors of the domain.
    /// - Parameter onCallersThread: whether the work runs on the caller's thread, see
    ///   ``Durability/callersThreadLimit``.
    func blocking<Value: Sendable>(
        onCallersThread: Bool, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await onCallersThread ? ScribeError.translatingFullDisk { try work() } : blocking(work)
    }

    /// Runs blocking work on a thread of the pool, and throws its failures as errors of the domain.
    func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await ScribeError.translatingFullDisk { try await pool.runIfActive(work) }
    }

    func syncFolder(of path: String) throws {
        let parent = (path as NSString).deletingLastPathComponent
        for folder in [parent, folder] {
            let descriptor = try FileDescriptor.open(FilePath(folder), .readOnly, options: [.directory, .closeOnExec])
            try descriptor.closeAfter {
                guard OperatingSystem.sync(descriptor.rawValue) == 0 else { throw Errno(rawValue: errno) }
            }
        }
    }

    /// Runs blocking work also in a cancelled task, which would get no thread otherwise.
    func cleanUp(_ work: @escaping @Sendable () -> Void) async {
        await Task { [pool] in _ = try? await pool.runIfActive(work) }.value
    }
}
