import Basics
import Crypto
import Foundation
import SystemPackage

/// MD5 of a file.
package enum FileDigest {
    /// Reads a file in pieces. Blocking.
    /// - Returns: the MD5 in hexadecimal.
    /// - Throws: `FileSystem.Failure`, or the error of the file system.
    package static func md5(ofFile path: String) throws -> String {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw FileSystem.Failure(.noSuchFileOrDirectory, at: path)
        }
        defer { try? file.close() }
        var hash = Insecure.MD5()
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { hash.update(data: piece) }
        return Hex.encode(hash.finalize())
    }
}
