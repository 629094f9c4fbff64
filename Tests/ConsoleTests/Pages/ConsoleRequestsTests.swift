import Basics
import Foundation
import HTTPTypes
import ScribeHTTP
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

/// The list of requests, the page of one, and what "Go to" finds.
struct ConsoleRequestsTests {
    /// A visitor after a login (1), two beginnings (2, 3), a mistyped path (4) and one for each further call.
    private func visited(
        _ body: @escaping @Sendable (ConsoleVisitor, TestScribeClient) async throws -> Void
    ) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            _ = try await client.initialise("i-2")
            _ = try await client.get("/voice/api/v2/transactoin/i-1")
            try await body(try await ConsoleVisitor(anonymous), client)
        }
    }

    @Test(
        "each filter of the list, and the search, leave what fits, and the tabs count it",
        arguments: [
            ("", "", 4), ("?method=GET", "", 1), ("?status=4xx", "", 1), ("?status=2xx&method=POST", "", 3),
            ("?operation=initTransaction", "", 2), ("?client=dev-client", "", 2), ("?client=nobody", "", 0),
            ("?only=errors", "", 1), ("?only=unmatched", "", 1), ("?only=nonesuch", "", 4), ("", "404", 1),
            ("", "INITtransaction", 2), ("?only=errors", "i-1", 1), ("", "nothing of this", 0),
        ])
    func filters(query: String, search: String, count: Int) async throws {
        try await visited { visitor, _ in
            let page = try await visitor.page("/requests\(query)", search: search.isEmpty ? nil : search).text
            #expect(page.matches(of: /class="rl"/).count == count)
            #expect(page.contains("\(count) of 4 in the journal"))
            #expect(
                page.contains(
                    "Matched nothing <i>\(query.contains("POST") || page.contains("transactoin") == false ? 0 : 1)</i>")
            )
        }
    }

    @Test("a request that matched nothing says in its row what was probably meant")
    func nearest() async throws {
        try await visited { visitor, _ in
            let list = try await visitor.page("/requests").text
            #expect(list.contains("matched nothing: meant GET /voice/api/v2/transaction/{txn_id}?"))
        }
    }

    @Test("the page of a request has its neighbours, its operation, its consultation, and JSON a member a line")
    func request() async throws {
        try await visited { visitor, _ in
            let page = try await visitor.page("/requests/2").text
            #expect(page.contains("/requests/1\" rel=\"prev\"") && page.contains("/requests/3\" rel=\"next\""))
            #expect(page.contains("POST /voice/api/v2/transaction/init/{txn_id}"))
            #expect(page.contains("/__console/consultations/b-demo/i-1\">Its consultation"))
            #expect(page.contains("\n  <span class=\"k\">&quot;mode&quot;</span>: <span class=\"s\">"))
            #expect(page.contains("aria-label=\"Copy the request\"") && page.contains("aria-label=\"Copy the answer\""))
            let first = try await visitor.page("/requests/1").text
            #expect(!first.contains("rel=\"prev\"") && !first.contains("Its consultation"))
            let last = try await visitor.page("/requests/4").text
            #expect(!last.contains("rel=\"next\"") && last.contains("It matched nothing."))
        }
    }

    @Test("the command of a request logs its client in, and has no masked cookie")
    func command() async throws {
        try await visited { visitor, client in
            _ = try await client.get("/voice/api/v2/transaction/i-1", headers: [.cookie: "session=secret"])
            let page = try await visitor.page("/requests/5").text
            let command = try #require(page.components(separatedBy: "h-cu").last)
                .replacing("&#39;", with: "'").replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
            #expect(command.contains("TOKEN=$(curl -s 'http://localhost/connect-auth/v1/account/login'"))
            #expect(command.contains(#"--data-raw '{"client_id":"dev-client","client_secret":"dev-secret"}'"#))
            #expect(command.contains("Bearer $TOKEN") && !command.lowercased().contains("cookie"))
        }
    }

    @Test("the command of an upload has curl sign it anew")
    func upload() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha", at: server.manual.now)
            let visitor = try await ConsoleVisitor(anonymous)
            let list = try await visitor.page("/requests?operation=PutObject").text
            let path = try #require(list.firstMatch(of: /\/__console(\/requests\/[0-9]+)"/)).1
            let page = try await visitor.page(String(path)).text
            let command = try #require(page.components(separatedBy: "h-cu").last).replacing("&#39;", with: "'")
            #expect(command.contains("--aws-sigv4 'aws:amz:ap-south-1:s3'"))
            #expect(command.contains("$AWS_SESSION_TOKEN") && !command.lowercased().contains("x-amz-date"))
            #expect(!command.contains("***") && command.contains("--data-binary @FILE"))
        }
    }

    @Test("patients, transcripts, fixtures, states and ids are found, and requests by path and status")
    func found() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha Rao", at: server.manual.now)
            #expect(try await client.list("commit", "i-1", ["1.wav"]).status == 200)
            let fixture = #","patient_details":{"username":"Bea Lind","visit_id":"fixture:no-speech"}"#
            #expect(try await client.initialise("i-2", fixture).status == 201)
            let visitor = try await ConsoleVisitor(anonymous)
            #expect(try await visitor.act(.post, "/admin/transactions/i-1/wait", "{}").status == 200)
            #expect(try await visitor.act(.post, "/admin/transactions/i-2/cancel", "{}").status == 200)
            let names = [
                "asha": ["Asha Rao"], "cough since monday": ["Asha Rao"], "no-speech": ["Bea Lind"],
                "Cancelled": ["Bea Lind"], "done": ["Asha Rao"], "i-": ["Bea Lind", "Asha Rao"], "%25": [],
                "nobody of this name": [], "fixture:no-speech": ["Bea Lind"], "v-i-1": ["Asha Rao"],
                "dev-client": ["Bea Lind", "Asha Rao"], "partial": [], "cancelled as asked": [],
                "": ["Bea Lind", "Asha Rao"],
            ]
            for (text, expected) in names {
                let answer = try await visitor.load("/found", [.scribeSearch: text.replacing(" ", with: "%20")])
                let found = answer.json["consultations"]?.arrayValue?.compactMap { $0["title"]?.stringValue }
                #expect(found == expected, "\(text): \(answer.text)")
                if !text.isEmpty {
                    let list = try await visitor.page("", search: text.replacing(" ", with: "%20")).text
                    for name in ["Asha Rao", "Bea Lind"] {
                        let isShown = list.contains("\(name)</a>")
                        #expect(isShown == expected.contains(name), "\(text)")
                    }
                }
            }
            let requests = try await visitor.load("/found", [.scribeSearch: "commit/i-1"]).json["requests"]?.arrayValue
            #expect(requests?.count == 1)
            #expect(requests?.first?["title"]?.stringValue?.hasPrefix("POST /voice/api/v2/transaction/commit") == true)
            #expect(try await visitor.load("/found?namespace=nonesuch", [.scribeSearch: "x"]).status == 404)
            #expect(try await anonymous.get("/__console/found").status == 403)
        }
    }

    @Test("a file that no browser plays can still be downloaded, and none of another consultation")
    func download() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha", at: server.manual.now)
            let path = "/\(TestScribeClient.bucket)/260510/i-1/2.wav"
            let bytes = Data("<script>no audio</script>".utf8)
            let signed = try await client.signer().sign("PUT", path, at: server.manual.now)
            #expect(try await client.send(.put, path, headers: signed, body: bytes).status == 200)
            let visitor = try await ConsoleVisitor(anonymous)
            let answer = try await visitor.load("/audio/b-demo/i-1/2.wav?download")
            #expect(answer.status == 200 && answer.body == bytes)
            #expect(answer.headers[.contentType] == "application/octet-stream")
            #expect(answer.headers[.contentDisposition] == "attachment")
            #expect(try await visitor.load("/audio/b-demo/i-2/2.wav?download").status == 404)
            let sample = try await visitor.load("/sample.ogg")
            #expect(sample.status == 200 && sample.body.starts(with: Data("OggS".utf8)))
        }
    }
}
