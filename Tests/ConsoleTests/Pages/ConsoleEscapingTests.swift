import Documents
import Foundation
import HTTPTypes
import ScribeHTTP
import ScribeRuntime
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

/// What clients sent, on pages and in commands of the console.
struct ConsoleEscapingTests {
    private static let hostile = #"<script>alert(\"x\")</script> O'Neil & Søn {{token}}"#

    @Test("every console page escapes the markup in texts that clients sent")
    func hostile() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", Self.hostile, at: server.manual.now)
            _ = try await client.get("/voice/api/v2/%3Cimg%20src=x%3E/\"onload=\"")
            let visitor = try await ConsoleVisitor(anonymous)
            for path in ["", "/consultations/b-demo/i-1", "/requests", "/requests/1", "/requests/2"] {
                let page = try await visitor.page(path).text
                #expect(!page.contains("<script>alert") && !page.contains("<img src=x"), "\(path)")
            }
            let page = try await visitor.page("/consultations/b-demo/i-1").text
            #expect(page.contains("&lt;script&gt;alert") && page.contains("{{token}}"))
        }
    }

    @Test("the console escapes brackets and quotes that are joined to a combining character")
    func joined() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            for (number, text) in [
                "\u{600}<b id=x\u{600}>", "<\u{301}b id=x>\u{301}", "\u{600}\\\"><b id=x>", "\\\"\u{301}><b id=x>",
                "'\u{301}><b id=x>",
            ].enumerated() {
                let id = "i-\(number)"
                try await client.record(id, text, at: server.manual.now)
                _ = try await client.post("/voice/api/v1/template", #"{"title":"\#(text)","section_ids":["plan"]}"#)
                let fault = try await anonymous.post(
                    "/__admin/faults", #"{"id":"\#(text)","path":"/\#(number)","status":500}"#)
                #expect([201, 400].contains(fault.status))
            }
            let visitor = try await ConsoleVisitor(anonymous)
            let paths = (0..<5).map { "/consultations/b-demo/i-\($0)" } + (1...12).map { "/requests/\($0)" }
            for path in ["", "/bench", "/templates", "/requests", "/webhooks"] + paths {
                let page = try await visitor.page(path)
                #expect(page.body.range(of: Data("<b id=x".utf8)) == nil, "\(path)")
                let bytes = String(decoding: page.body, as: UTF8.self).unicodeScalars.filter { $0.value < 128 }
                #expect(!String(String.UnicodeScalarView(bytes)).contains("<b id=x"), "\(path)")
            }
        }
    }

    @Test("the console's templates, style sheet and scripts take at most 150 KB together")
    func size() {
        let sizes = (0..<console_file_count()).map { console_file($0).document.count }
        #expect(sizes.reduce(0, +) <= 150_000)
    }

    @Test("the console quotes any text as a single shell word")
    func shell() {
        #expect(ConsoleFamily.quoted("it's") == #"'it'\''s'"#)
        for text in [
            "\u{600}'; touch x; echo \u{600}'", "'\u{301}; touch x; echo '\u{301}", "$(touch x) `touch x`", "\u{0}'",
        ] {
            let quoted = ConsoleFamily.quoted(text).unicodeScalars
            // Within quotes nothing else ends a word: each quote of the text became four characters.
            let quotes = text.unicodeScalars.count { $0 == "'" }
            #expect(quoted.count { $0 == "'" } == 2 + 3 * quotes)
            #expect(quoted.first == "'" && quoted.last == "'")
            #expect(!quoted.contains("\u{0}"))
        }
    }

    @Test("each console page allows its scripts by a nonce of its own, and no other scripts of the origin")
    func policy() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            var values: Set<String> = []
            for _ in 0..<2 {
                let page = try await visitor.page("/try")
                let policy = try #require(page.headers[.contentSecurityPolicy])
                let match = try #require(policy.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})' blob:;/))
                values.insert(String(match.1))
                let scripts = page.text.components(separatedBy: "<script ").dropFirst()
                #expect(scripts.count == 2)
                #expect(scripts.allSatisfy { $0.hasPrefix("nonce=\"\(match.1)\" src=\"/__console/") })
            }
            #expect(values.count == 2)
        }
    }
}
