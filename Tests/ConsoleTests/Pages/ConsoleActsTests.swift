import Foundation
import HTTPTypes
import ScribeHTTP
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

/// Acts of the console that the operator API refuses: disabled, with the reason.
struct ConsoleActsTests {
    @Test("servers that share their data refuse more than a data folder does, and a data folder more than a namespace")
    func refusals() {
        let free = ActRefusals(sharesData: false, mayChangeState: true)
        #expect(free.ofOneServer == nil && free.ofState == nil)
        let folder = ActRefusals(sharesData: false, mayChangeState: false)
        #expect(folder.ofOneServer == nil && folder.ofState?.contains("--allow-reset") == true)
        let shared = ActRefusals(sharesData: true, mayChangeState: false)
        #expect(shared.ofOneServer?.contains("--database") == true && shared.ofState == shared.ofOneServer)
    }

    @Test(
        "reset and clock of a data folder are disabled where the operator API refuses them", arguments: [false, true])
    func folder(isAllowed: Bool) async throws {
        var server = try TestServer(onSQLite: true)
        server.configuration.allowsReset = isAllowed
        server.configuration.isEphemeral = false
        try await server.run { client in
            let visitor = try await ConsoleVisitor(client)
            let page = try await visitor.page("/bench").text
            #expect(page.contains("needs --ephemeral or --allow-reset") == !isAllowed)
            let isDisabled = page.contains(#"type="button" disabled data-acts="[[&quot;POST&quot;,&quot;reset"#)
            #expect(isDisabled == !isAllowed)
            #expect(page.contains("role=\"switch\" id=\"console-uploads\""))
            let clock = try await visitor.act(.post, "/admin/clock/advance", #"{"by":"1h"}"#)
            #expect((clock.status == 409) == !isAllowed)
        }
    }

    @Test("a recording that ends by its own API only cannot be committed or failed in the console, and says why")
    func ownAPI() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let visitor = try await ConsoleVisitor(anonymous)
            let list = try await visitor.page("").text
            let path = try #require(list.firstMatch(of: /\/__console(\/consultations\/[^"]+)"/)).1
            let page = try await visitor.page(String(path)).text
            #expect(page.contains("Such a recording ends by its own API only."))
            for (verb, isRefused) in [("commit", true), ("fail", true), ("cancel", false)] {
                let button = "disabled data-acts=\"[[&quot;POST&quot;,&quot;transactions/\(id)/\(verb)?"
                #expect(page.contains(button) == isRefused, "\(verb)")
                let act = try await visitor.act(.post, "/admin/transactions/\(id)/\(verb)", "{}")
                #expect((act.status == 409) == isRefused, "\(verb): \(act.text)")
            }
        }
    }

    @Test("each code of the console's dialog ends a recording, and the console says that an operator asked for it")
    func codes() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.initialise("i-0")
            let visitor = try await ConsoleVisitor(anonymous)
            let page = try await visitor.page("/consultations/b-demo/i-0").text
            let choices = try #require(page.firstMatch(of: /data-choices="([^"]+)"/)).1.replacing("&quot;", with: "\"")
            let codes = choices.matches(of: /\["([a-z_]+)",/).map(\.1)
            #expect(codes.first == "transcription_failed" && codes.count == 10)
            for (number, code) in codes.enumerated() {
                _ = try await client.initialise("i-\(number)")
                let act = try await visitor.act(.post, "/admin/transactions/i-\(number)/fail", #"{"code":"\#(code)"}"#)
                #expect(act.status == 200, "\(act.text)")
                let list = try await visitor.page("", search: "i-\(number)").text
                let isTold = list.contains("\(code), by an operator")
                #expect(isTold, "\(code)")
            }
        }
    }
}
