import Foundation
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Calls of the file system that Foundation lacks, or makes without a reason for their failure. All are blocking.
package enum FileSystem {
    /// A file cannot be read.
    package struct Unreadable: Error {
        package let path: String

        package init(path: String) { self.path = path }
    }

    /// The size of a file in bytes; nil where there is no file. Follows links.
    package static func size(ofFile path: String) -> Int? {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(info.st_size)
    }

    package static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Creates a folder that only its owner can read, and its parent folders.
    /// - Throws: `Errno`.
    package static func makeFolder(_ path: String, permissions: FilePermissions = .ownerReadWriteExecute) throws {
        if mkdir(path, permissions.rawValue) == 0 { return }
        switch errno {
        case EEXIST:
            guard isFolder(path) else { throw Errno.fileExists }
        case ENOENT:
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            guard parent != path else { throw Errno.noSuchFileOrDirectory }
            try makeFolder(parent, permissions: FilePermissions(rawValue: 0o777))
            guard mkdir(path, permissions.rawValue) == 0 || errno == EEXIST && isFolder(path) else {
                throw Errno(rawValue: errno)
            }
        case let code:
            // Some file systems report another error although the folder exists.
            guard isFolder(path) else { throw Errno(rawValue: code) }
        }
    }

    /// Writes the entries of a folder to the disk, so that a power cut loses no name.
    /// - Throws: `Errno`.
    package static func syncFolder(_ path: String) throws {
        let folder = try FileDescriptor.open(FilePath(path), .readOnly, options: [.directory, .closeOnExec])
        try folder.closeAfter { try syncFile(folder) }
    }

    /// Writes the bytes of a file to the disk.
    /// - Throws: `Errno`.
    package static func syncFile(_ file: FileDescriptor) throws {
        // Some file systems cannot sync a folder.
        guard fsync(file.rawValue) == 0 || [EINVAL, EROFS].contains(errno) else { throw Errno(rawValue: errno) }
    }

    /// Reads the first 128 bytes of a file.
    /// - Throws: `Errno`.
    package static func beginning(
        of path: String, _ options: FileDescriptor.OpenOptions = []
    ) throws -> [UInt8] {
        let file = try FileDescriptor.open(
            FilePath(path), .readOnly, options: options.union([.nonBlocking, .closeOnExec]))
        return try file.closeAfter {
            try [UInt8](unsafeUninitializedCapacity: 128) { buffer, count in
                count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
    }

    /// Links a file, or copies it where a link is not possible: on another disk, or for another user's file.
    /// - Throws: ``Unreadable``, or `Errno`.
    package static func link(_ source: String, as target: String) throws {
        guard linkat(AT_FDCWD, source, AT_FDCWD, target, 0) != 0 else { return }
        switch errno {
        case EXDEV, EPERM, EMLINK, EOPNOTSUPP: try copy(source, as: target)
        case let code: throw Errno(rawValue: code)
        }
    }

    /// Copies a file. Only the owner can read the copy.
    /// - Throws: ``Unreadable``, or `Errno`.
    package static func copy(_ source: String, as target: String) throws {
        let writer = try FileDescriptor.open(
            FilePath(target), .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
        _ = try writer.closeAfter { try append(source, to: writer) }
    }

    /// Appends the bytes of a file.
    /// - Returns: Their number.
    /// - Throws: ``Unreadable``, or the `Errno` of the writer.
    package static func append(_ source: String, to writer: FileDescriptor) throws -> Int {
        guard let reader = try? FileDescriptor.open(FilePath(source), .readOnly, options: .closeOnExec) else {
            throw Unreadable(path: source)
        }
        return try reader.closeAfter {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var copied = 0
            while true {
                guard let count = try? reader.read(into: buffer) else { throw Unreadable(path: source) }
                guard count > 0 else { return copied }
                copied += try writer.writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }
}

extension String {
    /// Whether the text begins with a UUID, as the server names its own files.
    package var beginsWithUUID: Bool { UUID(uuidString: String(prefix(36))) != nil }
}
