import Eka
import Foundation
import HTTPTypes
import S3
import ScribeHTTP
import ScribeServer
import Testing

/// The answer to `POST /v1/file-upload`: where a whole file goes, and the form that takes it there.
package struct PresignedPost: Decodable {
    package struct UploadData: Decodable {
        package let url: String
        /// Every value is a text: .NET reads no other.
        package let fields: [String: String]
    }

    package let uploadData: UploadData
    package let folderPath: String
    package let txnId: String

    /// The fields as they came, `key` in its place but naming the file.
    package func fields(of answer: TestAnswer, key: String) -> [(String, String)] {
        let text = answer.text
        func place(_ name: String) -> String.Index { text.range(of: "\"\(name)\"")?.lowerBound ?? text.endIndex }
        return uploadData.fields.sorted { place($0.key) < place($1.key) }.map {
            ($0.key, $0.key == "key" ? key : $0.value)
        }
    }

    /// `key` first, then the rest.
    package func fieldsAfterKey(_ key: String) -> [(String, String)] {
        [("key", key)] + uploadData.fields.filter { $0.key != "key" }.sorted { $0.key < $1.key }
    }

    /// The bucket that a host names by its first label; none without a label `s3`.
    package var bucket: String? {
        let labels = URLComponents(string: uploadData.url)?.host?.split(separator: ".") ?? []
        return labels.contains("s3") ? labels.first.map(String.init) : nil
    }
}

/// A form with one file, as three HTTP stacks write it.
package struct MultipartForm {
    package enum Dialect {
        /// Quoted names.
        case browser
        /// Names without quotes, a quoted boundary, a type on every text, the file's name twice.
        case dotnet
        /// As browsers, with no quotes to escape and a boundary of hex digits.
        case python
    }

    package let dialect: Dialect
    package let fields: [(String, String)]
    package let name: String
    package var type: String?
    package let data: Data

    package init(dialect: Dialect, fields: [(String, String)], name: String, type: String? = nil, data: Data) {
        self.dialect = dialect
        self.fields = fields
        self.name = name
        self.type = type
        self.data = data
    }

    private var boundary: String {
        switch dialect {
        case .browser: "----WebKitFormBoundary7MA4YWxkTrZu0gW"
        case .dotnet: "5b0f3f5e-6f0a-4a53-9f5e-1f6a4f0f8b11"
        case .python: "d74496d66958873e2d1c3d6b5e4f8a90"
        }
    }

    package var contentType: String {
        dialect == .dotnet
            ? "multipart/form-data; boundary=\"\(boundary)\"" : "multipart/form-data; boundary=\(boundary)"
    }

    package var body: Data {
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
    package func send(to url: String, through server: TestScribeClient, headers: HTTPFields = [:]) async throws
        -> TestAnswer
    {
        let parts = try #require(URLComponents(string: url))
        let host = try #require(parts.host) + (parts.port.map { ":\($0)" } ?? "")
        return try await server.send(
            .post, parts.percentEncodedPath, host: host,
            headers: headers + HTTPFields([("Content-Type", contentType)]), body: body
        )
    }
}
