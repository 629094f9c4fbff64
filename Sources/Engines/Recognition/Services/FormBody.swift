import Basics
import Foundation
import SystemPackage

/// `multipart/form-data` body with one file, written to disk so that long recordings are never in memory.
struct FormBody: Sendable {
    static let boundary = "scribe-emulator-form-7d4db0b2829144858f6c"
    private static let pieceSize = 256 * 1024

    let fields: [(name: String, value: String)]
    let fileName: String
    let contentType: String

    /// Writes the body to a file. Blocks.
    func write(fileAt source: String, to path: String) throws {
        let output = try FileSystem.newFile(path, .truncate)
        try output.closeAfter {
            var head = ""
            for field in fields {
                head += "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\(field.name)\"\r\n\r\n"
                head += "\(field.value)\r\n"
            }
            head += "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(fileName)\"\r\n"
            head += "Content-Type: \(contentType)\r\n\r\n"
            _ = try output.writeAll(Array(head.utf8))
            let input = try SystemPackage.FileDescriptor.open(FilePath(source), .readOnly, options: .closeOnExec)
            try input.closeAfter {
                var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
                while true {
                    let count = try buffer.withUnsafeMutableBytes { try input.read(into: $0) }
                    guard count > 0 else { break }
                    _ = try output.writeAll(buffer[..<count])
                }
            }
            _ = try output.writeAll(Array("\r\n--\(Self.boundary)--\r\n".utf8))
        }
    }
}
