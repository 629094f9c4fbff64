import Foundation
import HTTPTypes
import ScribeDomain
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// The answer to `POST /v1/file-upload`: where a whole file goes, and the form that takes it there.
struct PresignedPost: Decodable {
    struct UploadData: Decodable {
        let url: String
        /// Every value is a text: .NET reads no other.
        let fields: [String: String]
    }

    let uploadData: UploadData
    let folderPath: String
    let txnId: String

    /// The fields as they came, `key` in its place but naming the file.
    func fields(of answer: TestAnswer, key: String) -> [(String, String)] {
        let text = answer.text
        func place(_ name: String) -> String.Index { text.range(of: "\"\(name)\"")?.lowerBound ?? text.endIndex }
        return uploadData.fields.sorted { place($0.key) < place($1.key) }.map {
            ($0.key, $0.key == "key" ? key : $0.value)
        }
    }

    /// `key` first, then the rest.
    func fieldsAfterKey(_ key: String) -> [(String, String)] {
        [("key", key)] + uploadData.fields.filter { $0.key != "key" }.sorted { $0.key < $1.key }
    }

    /// The bucket that a host names by its first label; none without a label `s3`.
    var bucket: String? {
        let labels = URLComponents(string: uploadData.url)?.host?.split(separator: ".") ?? []
        return labels.contains("s3") ? labels.first.map(String.init) : nil
    }
}

/// A form with one file, as three HTTP stacks write it.
struct MultipartForm {
    enum Dialect {
        /// Quoted names.
        case browser
        /// Names without quotes, a quoted boundary, a type on every text, the file's name twice.
        case dotnet
        /// As browsers, with no quotes to escape and a boundary of hex digits.
        case python
    }

    let dialect: Dialect
    let fields: [(String, String)]
    let name: String
    var type: String?
    let data: Data

    private var boundary: String {
        switch dialect {
        case .browser: "----WebKitFormBoundary7MA4YWxkTrZu0gW"
        case .dotnet: "5b0f3f5e-6f0a-4a53-9f5e-1f6a4f0f8b11"
        case .python: "d74496d66958873e2d1c3d6b5e4f8a90"
        }
    }

    var contentType: String {
        dialect == .dotnet
            ? "multipart/form-data; boundary=\"\(boundary)\"" : "multipart/form-data; boundary=\(boundary)"
    }

    var body: Data {
        var body = Data()
        for (name, value) in fields {
            let head =
                dialect == .dotnet
                ? ["Content-Type: text/plain; charset=utf-8", "Content-Disposition: form-data; name=\(name)"]
                : ["Content-Disposition: form-data; name=\"\(name)\""]
            body += part(head, Data(value.utf8))
        }
        let disposition =
            dialect == .dotnet
            ? "Content-Disposition: form-data; name=file; filename=\(name); filename*=utf-8''\(name)"
            : "Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\""
        body += part([disposition] + (type.map { ["Content-Type: \($0)"] } ?? []), data)
        return body + Data("--\(boundary)--\r\n".utf8)
    }

    private func part(_ head: [String], _ content: Data) -> Data {
        Data("--\(boundary)\r\n\(head.joined(separator: "\r\n"))\r\n\r\n".utf8) + content + Data("\r\n".utf8)
    }

    /// Sends the form to the URL's host, whatever that is called.
    func send(to url: String, through server: TestScribeClient, headers: HTTPFields = [:]) async throws -> TestAnswer {
        let parts = try #require(URLComponents(string: url))
        let host = try #require(parts.host) + (parts.port.map { ":\($0)" } ?? "")
        return try await server.send(
            .post, parts.percentEncodedPath, host: host,
            headers: headers + HTTPFields([("Content-Type", contentType)]), body: body
        )
    }
}
