import Foundation
package import SystemPackage

/// Calls of the file system that Foundation lacks, or makes without a reason for their failure. All are blocking.
package enum FileSystem {
    /// A call failed on one of the files that it works on.
    package struct Failure: Error, CustomStringConvertible {
        package let path: String
        package let code: Errno

        package init(_ code: Errno, at path: String) { (self.path, self.code) = (path, code) }

        package var description: String { "\(path): \(code)" }
    }

    /// Runs `body`, and names the file in its error.
    /// - Throws: ``Failure`` in place of `Errno`.
    package static func naming<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let code as Errno {
            throw Failure(code, at: path)
        }
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

    /// Makes a file that only its owner can read, and opens it for writing.
    /// - Parameter options: `.exclusiveCreate` to fail where a file is, `.truncate` to write it anew.
    /// - Throws: `Errno`.
    package static func newFile(_ path: String, _ options: FileDescriptor.OpenOptions) throws -> FileDescriptor {
        // Each upload makes a file: a `FilePath` of the text would cost more than the rest.
        try FileDescriptor.open(
            path, .writeOnly, options: options.union([.create, .closeOnExec]), permissions: .ownerReadWrite)
    }

    /// Makes a file that only its owner can read, or replaces it. A kill or a power cut leaves the file as it was, or
    /// with these bytes.
    /// - Throws: `Errno`.
    package static func replace(_ path: String, with bytes: [UInt8]) throws {
        let temporary = "\(path).new"
        let file = try newFile(temporary, .truncate)
        try file.closeAfter {
            _ = try file.writeAll(bytes)
            try syncFile(file)
        }
        guard rename(temporary, path) == 0 else { throw Errno(rawValue: errno) }
        // A power cut could lose the file's name otherwise.
        try syncFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
    }

    /// Writes the entries of a folder to the disk, so that a power cut loses no name.
    /// - Throws: `Errno`.
    package static func syncFolder(_ path: String) throws {
        let folder = try FileDescriptor.open(FilePath(path), .readOnly, options: [.directory, .closeOnExec])
        try folder.closeAfter { try syncFile(folder) }
    }

    /// Writes the bytes of the file at `path` to the disk.
    /// - Throws: `Errno`.
    package static func syncFile(at path: String) throws {
        let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        try file.closeAfter { try syncFile(file) }
    }

    /// Writes the bytes of a file to the disk.
    /// - Throws: `Errno`.
    package static func syncFile(_ file: FileDescriptor) throws {
        // Some file systems cannot sync a folder.
        guard OperatingSystem.sync(file.rawValue) == 0 || [EINVAL, EROFS].contains(errno) else {
            throw Errno(rawValue: errno)
        }
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
    /// - Throws: ``Failure``.
    package static func link(_ source: String, as target: String) throws {
        guard linkat(AT_FDCWD, source, AT_FDCWD, target, 0) != 0 else { return }
        switch errno {
        case EXDEV, EPERM, EMLINK, EOPNOTSUPP: try copy(source, as: target)
        case let code: throw Failure(Errno(rawValue: code), at: source)
        }
    }

    /// Copies a file. Only the owner can read the copy.
    /// - Throws: ``Failure``.
    package static func copy(_ source: String, as target: String) throws {
        try naming(target) {
            let writer = try newFile(target, .truncate)
            _ = try writer.closeAfter { try append(source, to: writer) }
        }
    }

    /// Appends the bytes of a file.
    /// - Returns: Their number.
    /// - Throws: ``Failure`` of the source, or the `Errno` of the writer.
    package static func append(_ source: String, to writer: FileDescriptor) throws -> Int {
        let reader = try naming(source) {
            try FileDescriptor.open(FilePath(source), .readOnly, options: .closeOnExec)
        }
        return try reader.closeAfter {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var copied = 0
            while true {
                let count = try naming(source) { try reader.read(into: buffer) }
                guard count > 0 else { return copied }
                copied += try writer.writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }
}

extension String {
    /// Whether the text begins with a UUID, as the server names its own files.
    package var beginsWithUUID: Bool {
        let start = utf8.prefix(36)
        return start.count == 36
            && start.enumerated().allSatisfy { place, byte in
                [8, 13, 18, 23].contains(place)
                    ? byte == UInt8(ascii: "-") : UnicodeScalar(byte).properties.isASCIIHexDigit
            }
    }
}
