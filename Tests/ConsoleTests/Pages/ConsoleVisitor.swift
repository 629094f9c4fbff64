import Foundation
import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import Testing

/// A browser that has opened the console.
struct ConsoleVisitor {
    static let root = "/__console"
    static let origin = "http://localhost"

    let client: TestScribeClient
    /// Name and value of the session's cookie.
    let cookie: String
    /// Token in the head of the page.
    let token: String

    /// Opens a page.
    init(_ client: TestScribeClient, _ path: String = root) async throws {
        var client = client
        client.headers = [:]
        let page = try await client.get(path, headers: Self.navigation)
        let parts = try #require(page.headers[.setCookie]).split(separator: ";")
        cookie = try #require(parts.first.map(String.init))
        let text = page.text
        let begin = try #require(text.range(of: #"name="scribe-console" content=""#)).upperBound
        token = String(text[begin...].prefix { $0 != "\"" })
        self.client = client
    }

    static let navigation: HTTPFields = [.secFetchSite: "none", .secFetchMode: "navigate", .secFetchDest: "document"]

    /// Headers of a script of the page.
    var script: HTTPFields {
        [.cookie: cookie, .secFetchSite: "same-origin", .origin: Self.origin, .scribeConsole: token]
    }

    func page(_ path: String, search: String? = nil) async throws -> TestAnswer {
        var headers = Self.navigation
        headers[.secFetchSite] = "same-origin"
        headers[.cookie] = cookie
        headers[.scribeSearch] = search
        return try await client.get(Self.root + path, headers: headers)
    }

    /// Loads what a page refers to.
    func load(_ path: String, _ more: HTTPFields = [:]) async throws -> TestAnswer {
        try await client.get(Self.root + path, headers: [.cookie: cookie, .secFetchSite: "same-origin"] + more)
    }

    func act(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> TestAnswer {
        var headers = script
        if body != nil { headers[.contentType] = "application/json" }
        return try await client.send(method, Self.root + path, headers: headers, body: body.map { Data($0.utf8) })
    }
}

extension HTTPFields {
    static func + (one: HTTPFields, other: HTTPFields) -> HTTPFields {
        var all = one
        for field in other { all[field.name] = field.value }
        return all
    }
}

extension TestScribeClient {
    /// Starts a transaction and uploads one file.
    func record(
        _ id: String, _ name: String, at date: Date, file: String = "1.wav"
    ) async throws {
        let details = #","patient_details":{"username":"\#(name)","visit_id":"v-\#(id)"}"#
        #expect(try await initialise(id, details).status == 201)
        #expect(try await upload(file, of: id, at: date).status == 200)
    }
}
