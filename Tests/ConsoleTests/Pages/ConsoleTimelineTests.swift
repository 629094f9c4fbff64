import Foundation
import HTTPTypes
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

/// The timeline of a transaction's page.
struct ConsoleTimelineTests {
    /// Times of the timeline's lines, with their titles.
    private static func lines(_ page: String) -> [(at: String, title: String)] {
        page.matches(of: /class="at">\+([^<]+)<\/span>.*?<b>(?:<a [^>]*>)?([^<]+)</).map {
            (String($0.1), String($0.2))
        }
    }

    @Test("a clock that is moved later changes no time of a timeline, and no order", arguments: [false, true])
    func moved(isFrozen: Bool) async throws {
        var server = try TestServer()
        server.configuration.allowsReset = true
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            if isFrozen {
                let body = Data(#"{"mode":"frozen"}"#.utf8)
                let headers: HTTPFields = [.contentType: "application/json"]
                #expect(try await client.send(.put, "/__admin/clock", headers: headers, body: body).status == 200)
            }
            try await client.record("i-1", "Asha", at: manual.now)
            #expect(try await client.list("commit", "i-1", ["1.wav"]).status == 200)
            let visitor = try await ConsoleVisitor(anonymous)
            #expect(try await visitor.act(.post, "/admin/transactions/i-1/wait", "{}").status == 200)
            let before = Self.lines(try await visitor.page("/consultations/b-demo/i-1").text)
            #expect(before.first?.title.hasPrefix("initTransaction") == true && before.count > 4, "\(before)")
            let moved = try await client.post("/__admin/clock/advance", #"{"by":"1h"}"#)
            #expect(moved.status == 200, "\(moved.text)")
            let after = Self.lines(try await visitor.page("/consultations/b-demo/i-1").text)
            #expect(after.map(\.title) == before.map(\.title))
            #expect(after.map(\.at) == before.map(\.at))
        }
    }

    @Test("files that were recognised in a row are one line, and each line has its bar")
    func folded() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha", at: server.manual.now)
            #expect(try await client.upload("2.wav", of: "i-1", at: server.manual.now).status == 200)
            #expect(try await client.list("commit", "i-1", ["1.wav", "2.wav"]).status == 200)
            let visitor = try await ConsoleVisitor(anonymous)
            #expect(try await visitor.act(.post, "/admin/transactions/i-1/wait", "{}").status == 200)
            let page = try await visitor.page("/consultations/b-demo/i-1").text
            let lines = Self.lines(page)
            #expect(lines.contains { $0.title == "2 files recognised" } && !page.contains("2.wav recognised"))
            #expect(page.matches(of: /<svg class="span"/).count == lines.count)
        }
    }

    @Test("a step that a fixture refuses is marked as asked for")
    func refused() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let details = #","patient_details":{"username":"Asha","visit_id":"fixture:commit-refused"}"#
            #expect(try await client.initialise("i-1", details).status == 201)
            #expect(try await client.list("commit", "i-1", []).status >= 400)
            let visitor = try await ConsoleVisitor(anonymous)
            let page = try await visitor.page("/consultations/b-demo/i-1").text
            let line = try #require(page.firstMatch(of: /<i class="([a-z]*)"><\/i><div><b><a [^>]*>commitTransaction/))
            #expect(line.1 == "a")
        }
    }

    @Test("commands of a page name its server and its namespace")
    func commands() async throws {
        try await TestServer().run { anonymous in
            _ = try await anonymous.namespace("ci")
            let visitor = try await ConsoleVisitor(anonymous)
            let page = try await visitor.page("/bench?namespace=ci").text
            #expect(page.contains("scribe-emulator fault list --url http://localhost --namespace ci</code>"))
            #expect(page.contains(#"status=503 --url http://localhost --namespace ci"#))
            let own = try await visitor.page("/bench").text
            #expect(own.contains("scribe-emulator clock show --url http://localhost</code>"))
        }
    }
}
