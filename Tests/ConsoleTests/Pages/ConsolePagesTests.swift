import Basics
import Documents
import Engines
import Foundation
import HTTPTypes
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

/// Pages of the console.
struct ConsolePagesTests {

    @Test("a consultation and its requests show what lint found, with rule and row")
    func lint() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            _ = try await client.upload("1.wav", of: "i-1", at: server.manual.now)
            _ = try await client.get("/voice/api/v2/transaction/i-1?access_token=secret")
            let visitor = try await ConsoleVisitor(anonymous)
            let consultation = try await visitor.page("/consultations/b-demo/i-1").text
            #expect(consultation.contains("error: The parameter access_token of 1 request"))
            #expect(consultation.contains("token-in-url, eka.md 1.3"))
            #expect(consultation.contains("warning: 1 file stored, and neither stop nor commit yet"))
            let list = try await client.get("/__admin/requests?operation=readTransaction")
            guard case .integer(let number)? = list.json["requests"]?.arrayValue?.first?["id"] else {
                throw NotRecorded()
            }
            #expect(consultation.contains("/requests/\(number)"))
            let request = try await visitor.page("/requests/\(number)").text
            #expect(request.contains("token-in-url") && !request.contains("commit-missing"))
            #expect(try await !visitor.page("/requests/1").text.contains("token-in-url"))
        }
    }

    private struct NotRecorded: Error {}

    @Test(
        "every console page is served as HTML without inline scripts or styles",
        arguments: ["", "/requests", "/webhooks", "/bench", "/try", "/connect", "/templates", "/settings"])
    func pages(path: String) async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            let page = try await visitor.page(path)
            #expect(page.status == 200)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.text.hasPrefix("<!doctype html>"))
            #expect(page.text.contains("<h1"))
            for never in ["<form", "javascript:", " style=\"", " onclick=", "<script>", "{{"] {
                #expect(!page.text.contains(never), "\(never)")
            }
        }
    }

    @Test("the console's first page shows how to connect, and later lists the transactions")
    func list() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let visitor = try await ConsoleVisitor(anonymous)
            #expect(try await visitor.page("").text.contains("SCRIBE_CLIENT_ID"))
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha Rao", at: server.manual.now)
            try await client.record("i-2", "Bea Lind", at: server.manual.now)
            #expect(try await client.list("stop", "i-2", ["1.wav"]).status == 200)
            #expect(try await client.list("commit", "i-2", ["1.wav"]).status == 200)
            let page = try await visitor.page("").text
            #expect(page.contains("Asha Rao") && page.contains("Bea Lind") && page.contains("Recording"))
            #expect(page.contains("/__console/consultations/b-demo/i-1\""))
            let found = try await visitor.page("", search: "asha").text
            #expect(found.contains("Asha Rao") && !found.contains("Bea Lind"))
            #expect(try await visitor.page("", search: "%E2%9C%93nobody").text.contains("Nothing matches"))
            let cancelled = try await visitor.page("?state=cancelled").text
            #expect(cancelled.contains("Nothing matches"))
            let kinds = try await visitor.page("?kind=session").text
            #expect(kinds.contains("Nothing matches"))
            #expect(try await visitor.page("?client=dev-client&state=nonesuch&before=x").text.contains("Asha Rao"))
        }
    }

    @Test("the console's transaction page shows timeline, results and exchanges, and can commit")
    func recording() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha Rao", at: server.manual.now)
            let visitor = try await ConsoleVisitor(anonymous)
            let before = try await visitor.page("/consultations/b-demo/i-1").text
            #expect(before.contains("Asha Rao") && before.contains("v-i-1") && before.contains("1.wav"))
            #expect(before.contains("Commit</button>"))
            #expect(!before.contains("Bearer ey"))
            let act = try await visitor.act(.post, "/admin/transactions/i-1/commit", "{}")
            #expect(act.status == 200, "\(act.text)")
            let done = try await visitor.act(.post, "/admin/transactions/i-1/wait", "{}")
            #expect(done.status == 200)
            let after = try await visitor.page("/consultations/b-demo/i-1").text
            #expect(after.contains("Transcript") && after.contains("initTransaction"))
            #expect(!after.contains("Commit</button>"))
            for path in ["/consultations/b-demo/i-9", "/consultations/b-other/i-1", "/consultations/b-demo/%00", "/x"] {
                #expect(try await visitor.page(path).status == 404, "\(path)")
            }
        }
    }

    @Test("the console serves stored audio by its own type and with ranges, and refuses files that are no audio")
    func audio() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha", at: server.manual.now)
            let path = "/\(TestScribeClient.bucket)/260510/i-1/2.wav"
            let page = Data("<html><script>alert(1)</script>".utf8)
            let signed = try await client.signer().sign("PUT", path, at: server.manual.now)
            #expect(try await client.send(.put, path, headers: signed, body: page).status == 200)
            let visitor = try await ConsoleVisitor(anonymous)
            let whole = try await visitor.load("/audio/b-demo/i-1/1.wav")
            #expect(whole.status == 200)
            #expect(whole.headers[.contentType] == "audio/wav")
            #expect(whole.headers[.contentTypeOptions] == "nosniff")
            #expect(whole.headers[.contentSecurityPolicy]?.hasPrefix("sandbox") == true)
            let part = try await visitor.load("/audio/b-demo/i-1/1.wav", [.range: "bytes=4-7"])
            #expect(part.status == 206)
            #expect(part.body == whole.body[4..<8])
            #expect(try await visitor.load("/audio/b-demo/i-1/1.wav", [.range: "bytes=99999999-"]).status == 416)
            for other in ["i-1/2.wav", "i-1/3.wav", "i-1/..%2F1.wav", "i-2/1.wav", "i-1"] {
                #expect(try await visitor.load("/audio/b-demo/\(other)").status == 404, "\(other)")
            }
        }
    }

    @Test("the console's request page shows the answer and a shell command, without secrets")
    func request() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-1")
            _ = try await client.get("/voice/api/v2/transactoin/i-1")
            let visitor = try await ConsoleVisitor(anonymous)
            let list = try await visitor.page("/requests").text
            #expect(list.contains("/voice/api/v2/transaction/init/i-1"))
            #expect(try await !visitor.page("/requests?only=sockets").text.contains("init/i-1"))
            #expect(try await visitor.page("/requests?only=unmatched").text.contains("transactoin"))
            #expect(try await !visitor.page("/requests", search: "login").text.contains("init/i-1"))
            let login = try await visitor.page("/requests/1").text
            #expect(login.contains("client_secret") && !login.contains("dev-secret") && !login.contains("eyJ"))
            let one = try await visitor.page("/requests/2").text
            #expect(
                one.contains("curl -g --path-as-is -X POST") && one.contains("Bearer $TOKEN")
                    && one.contains("consultation"))
            #expect(try await visitor.page("/requests/3").text.contains("It matched nothing"))
            #expect(try await visitor.page("/requests/99").status == 404)
            #expect(try await visitor.page("/requests/99").text.contains("No longer recorded"))
        }
    }

    @Test("the console's bench page shows active faults, and every console page counts them")
    func bench() async throws {
        try await TestServer(onSQLite: true).run { client in
            let visitor = try await ConsoleVisitor(client)
            #expect(try await !visitor.page("").text.contains("Back to normal"))
            let act = try await visitor.act(
                .post, "/admin/faults", #"{"id":"console-uploads","operation":"PutObject","code":"SlowDown","every":4}"#
            )
            #expect(act.status == 201)
            #expect(try await visitor.act(.put, "/admin/snapshots/base", "{}").status < 300)
            #expect(try await visitor.page("").text.contains("1 fault is on"))
            let bench = try await visitor.page("/bench").text
            #expect(bench.contains(#"id="console-uploads" checked"#) && bench.contains("<b>base</b>"))
        }
    }

    @Test("the fault rule of every switch on the console's bench page is accepted")
    func switches() async throws {
        try await TestServer().run { client in
            let visitor = try await ConsoleVisitor(client)
            for one in ConsoleFamily.switches {
                let rule = JSON.object([("id", .string(one.id))] + one.rule)
                let body = String(decoding: rule.bytes, as: UTF8.self)
                let answer = try await visitor.act(.post, "/admin/faults", body)
                #expect(answer.status == 201, "\(one.title): \(answer.text)")
            }
            let page = try await visitor.page("/bench").text
            #expect(page.components(separatedBy: " checked ").count - 1 == ConsoleFamily.switches.count)
        }
    }

    @Test("the console tries a template on a transcript, and shows the words behind each statement")
    func templates() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let made = try await client.post(
                "/voice/api/v1/template", #"{"title":"Mine & yours","section_ids":["plan"]}"#)
            #expect(made.status == 201)
            let visitor = try await ConsoleVisitor(anonymous)
            let page = try await visitor.page("/templates").text
            #expect(page.contains("Mine &amp; yours") && page.contains("clinical_notes_template"))
            let transcript = #"Doctor: Hello.\nPatient: I have had a fever for three days."#
            for template in ["clinical_notes_template", try made["template_id"]] {
                let note = try await visitor.act(
                    .post, "/note", #"{"template":"\#(template)","transcript":"\#(transcript)"}"#)
                #expect(note.status == 200, "\(note.text)")
                #expect(try !note["note"].isEmpty)
                guard template == "clinical_notes_template" else { continue }
                #expect(try note["sections.0.statements.0.words"].contains("fever"))
            }
            #expect(try await visitor.act(.post, "/note", #"{"template":"x","transcript":""}"#).status == 404)
            #expect(try await visitor.act(.post, "/note", #"{"template":"soap"}"#).status == 400)
        }
    }

    @Test("the console shows words beside the audio, and a note's statements beside their words")
    func words() async throws {
        var server = try TestServer()
        server.transcriber = TimedTranscriber()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha", at: manual.now)
            #expect(try await client.list("commit", "i-1", ["1.wav"]).status == 200)
            let visitor = try await ConsoleVisitor(anonymous)
            #expect(try await visitor.act(.post, "/admin/transactions/i-1/wait", "{}").status == 200)
            let page = try await visitor.page("/consultations/b-demo/i-1").text
            #expect(page.contains("<span data-at=\"0.5\">fever</span>"))
            #expect(page.contains("Which words each statement came from") && page.contains("<q class="))
            #expect(page.contains("R4 document") && page.contains("&quot;Composition&quot;"))
        }
    }

    @Test("the console has separate pages for each namespace")
    func namespace() async throws {
        try await TestServer().run { anonymous in
            let space = try await anonymous.namespace("ci")
            let client = try await anonymous.login(space.client, space.secret)
            #expect(try await client.initialise("i-ci").status == 201)
            let visitor = try await ConsoleVisitor(anonymous)
            let page = try await visitor.page("?namespace=ci").text
            #expect(page.contains("/__console/consultations/") && page.contains("i-ci?namespace=ci"))
            #expect(try await !visitor.page("").text.contains("i-ci"))
            #expect(try await visitor.page("?namespace=nonesuch").status == 404)
            let act = try await visitor.act(.post, "/admin/faults?namespace=ci", #"{"status":500}"#)
            #expect(act.status == 201)
            #expect(try await client.initialise("i-2").status == 500)
            let token = try await visitor.act(.post, "/token?namespace=ci", "{}")
            #expect(try token["client"] == space.client)
        }
    }

    @Test(
        "under strict authentication the console shows patients and texts only with a full journal",
        arguments: [false, true])
    func strict(isFull: Bool) async throws {
        var server = try TestServer()
        server.transcriber = TimedTranscriber()
        server.configuration.authMode = .strict
        server.configuration.adminToken = "operator"
        server.configuration.hasDemoSeed = true
        if isFull { server.configuration.journalMode = .full }
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha Rao", at: manual.now)
            #expect(try await client.list("commit", "i-1", ["1.wav"]).status == 200)
            #expect(try await client.status("i-1").status == 200)
            let locked = try await ConsoleVisitor(anonymous)
            let answer = try await locked.act(.post, "/login", #"{"token":"operator"}"#)
            let cookie = try #require(answer.headers[.setCookie]?.split(separator: ";").first.map(String.init))
            let headers = ConsoleVisitor.navigation + [.cookie: cookie]
            for path in ["", "/consultations/b-demo/i-1"] {
                let page = try await anonymous.get("/__console\(path)", headers: headers)
                #expect(page.status == 200 && page.text.contains("Asha Rao") == isFull, "\(path)")
                #expect(page.text.contains("v-i-1") == isFull)
                #expect(page.text.contains("R4 document") == (isFull && !path.isEmpty))
            }
            let search = try await anonymous.get("/__console", headers: headers + [.scribeSearch: "asha"])
            #expect(search.text.contains("i-1") == isFull, "a name cannot be guessed")
            let audio = try await anonymous.get(
                "/__console/audio/b-demo/i-1/1.wav", headers: [.cookie: cookie, .secFetchSite: "same-origin"])
            #expect(audio.status == (isFull ? 200 : 404))
        }
    }
}

/// Hears a fever in every file, and tells when.
private struct TimedTranscriber: Transcriber {
    let name = "timed"

    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        RecognisedSpeech(
            text: "I have a fever.",
            words: [
                TimedWord(text: "I have a", start: 0, end: 0.5), TimedWord(text: "fever", start: 0.5, end: 1),
            ], duration: 2)
    }
}
