import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder with a database and the uploads that belong to it.
struct StateFolder: Hashable, Sendable {
    let path: String

    var database: String { "\(path)/scribe.sqlite" }
    var objects: String { "\(path)/objects" }
    /// Path of a file that keeps the state although it may not be the valid one.
    var keepMark: String { "\(path)/keep" }

    /// The size of a file in bytes; nil where there is no file. Follows links.
    static func size(ofFile path: String) -> Int? {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(info.st_size)
    }
}
