import Basics
import SystemPackage

/// `multipart/form-data` body with one file, written to disk so that long recordings are never in memory.
struct FormBody: Sendable {
    static let boundary = "scribe-emulator-form-7d4db0b2829144858f6c"

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
            _ = try FileSystem.append(source, to: output)
            _ = try output.writeAll(Array("\r\n--\(Self.boundary)--\r\n".utf8))
        }
    }
}
