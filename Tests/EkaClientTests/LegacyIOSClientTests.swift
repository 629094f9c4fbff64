import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// The older iOS SDK: one credential header, times as strings, and a list is the end of polling.
struct LegacyIOSClientTests {
    let id = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"

    @Test(
        "the older iOS SDK takes a transaction from init to its notes, with the host app's own fields",
        .covers(
            "C-01", "C-06", "C-19", "C-25", "C-32", "C-40", "C-41", "C-43", "C-53", "C-54", "C-57", "C-58", "C-69",
            "C-77", "C-78"
        ),
        arguments: ["io", "ip"]
    )
    func wholeFlow(flavour: String) async throws {
        try await LegacyIOSClient.run(flavour: flavour) { client in
            let started = try await client.start(id)
            #expect(started.isSuccess)
            let keys = try await client.credentials()
            let chunks = ["1.m4a", "2.m4a"]
            for name in chunks + ["full_audio.m4a_"] {
                let stored = try await client.upload(name, of: id, with: keys)
                #expect(stored.status == 200, "\(stored.text)")
            }
            for verb in ["stop", "commit"] {
                let answer = try await client.list(verb, id, chunks)
                #expect(answer.status == 200)
                #expect(answer.json["error"] == nil)
            }
            let items = try #require(try await client.poll(id).complete, "not complete")
            let note = try #require(items.first { $0.templateId == "clinical_notes_template" })
            #expect(note.value?.base64Text?.contains("fever") == true)
            #expect(note.errors.isEmpty)
            let result: LegacyIOS.Result = try await client.status(id).decoded()
            let context = try #require(result.data?.additionalData)
            #expect(context.doctor?.id == "d-1")
            #expect(context.doctor?.profile.personal.name == .init(l: "Rao", f: "Meera"))
            #expect(context.patient?.profile.personal.name == .init(l: "K", f: "Asha"))
            #expect(context.visitid == "v-1")
            let transcript = try #require(result.data?.templateResults?.transcript?.first?.value?.base64Text)
            #expect(transcript.components(separatedBy: "since Monday").count == 2, "times that are strings were read")
            try await client.session.server.expectNotesAtMost()
        }
    }

    @Test(
        "the older iOS SDK gives up after three answers without a result, none of which has a list",
        .covers("C-28", "C-44"))
    func waiting() async throws {
        try await LegacyIOSClient.run { client in
            _ = try await client.start(id)
            let fourteen = Duration.seconds(14)
            let outcome = try await client.poll(id, holds: [fourteen, fourteen, fourteen])
            guard case .empty = outcome else {
                Issue.record("\(outcome), although nothing was committed")
                return
            }
        }
    }

    @Test("the older iOS SDK gets a result that takes twenty seconds in its first answer", .covers("C-29", "C-44"))
    func slowResult() async throws {
        try await LegacyIOSClient.run { client in
            try await client.record(id, fixture: "slow")
            try await client.session.clock.waitFor(.jobRunner)
            client.session.clock.advance(by: .seconds(5))
            #expect(try await client.poll(id).complete != nil)
        }
    }

    @Test("the older iOS SDK's stop may list chunks whose uploads are not finished", .covers("C-18", "C-24"))
    func stopBeforeUploads() async throws {
        try await LegacyIOSClient.run { client in
            _ = try await client.start(id)
            let keys = try await client.credentials()
            _ = try await client.upload("1.m4a", of: id, with: keys)
            for _ in 0..<3 {
                let stopped = try await client.list("stop", id, ["1.m4a", "2.m4a"])
                #expect(stopped.status == 200)
            }
            #expect(try await client.upload("2.m4a", of: id, with: keys).status == 200)
            #expect(try await client.upload("full_audio.m4a_", of: id, with: keys).status == 200)
            for _ in 0..<3 { #expect(try await client.list("commit", id, ["1.m4a", "2.m4a"]).status == 200) }
            let items = try #require(try await client.poll(id).complete)
            #expect(items.flatMap(\.warnings).isEmpty)
        }
    }

    @Test("the older iOS SDK reads a partial result as complete, with its warning", .covers("C-40", "C-41"))
    func partial() async throws {
        try await LegacyIOSClient.run { client in
            try await client.record(
                id, chunks: [("1.m4a", TestAudio.m4a(seconds: 10)), ("2.m4a", Data(repeating: 1, count: 500))]
            )
            let items = try #require(try await client.poll(id).complete, "partial_success never ends for it")
            #expect(items.first?.warnings.first?.code == "undecodable_audio")
            #expect(items.first?.value?.base64Text?.isEmpty == false)
        }
    }

    @Test("the older iOS SDK stops polling when a failed transaction answers 500", .covers("C-40"))
    func allFailed() async throws {
        try await LegacyIOSClient.run { client in
            try await client.record(id, chunks: [("1.m4a", Data(repeating: 1, count: 500))])
            let answer = try await client.status(id)
            #expect(answer.status == 500)
            let result: LegacyIOS.Result = try answer.decoded()
            #expect(result.items?.first?.errors.first?.code == "undecodable_audio")
            guard case .failed = try await client.poll(id) else {
                Issue.record("still polling")
                return
            }
        }
    }

    @Test(
        "upload credentials that the older iOS SDK fetched at the start outlive half a day of recording",
        .covers("C-76"))
    func longSession() async throws {
        try await LegacyIOSClient.run { client in
            let keys = try await client.credentials()
            client.session.clock.advance(by: .seconds(43_000))
            _ = try await client.start(id)
            #expect(try await client.upload("1.m4a", of: id, with: keys).status == 200)
        }
    }

    @Test("a refused init gives the older iOS SDK the whole documented error", .covers("C-09"))
    func quota() async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await LegacyIOSClient(anonymous, clock, "dev-limited", "dev-limited-secret")
            let answer = try await client.start(id)
            #expect(answer.status == 400)
            let refusal: LegacyIOS.Refusal = try answer.decoded()
            #expect(refusal.error.code == "txn_limit_exceeded")
            #expect(refusal.txnId == id)
            #expect(refusal.bId == "b-demo-limited")
        }
    }

    @Test(
        "the older iOS SDK sends the raw token alone, and two refreshes with one token both succeed",
        .covers("C-78", "C-81", "C-82", "C-83", "C-84")
    )
    func refresh() async throws {
        try await LegacyIOSClient.run { client in
            client.session.clock.advance(by: .seconds(86_401))
            let started = try await client.start(id)
            #expect(started.isSuccess)
            #expect(client.session.refreshCount.value == 1)
            let old = client.session.tokens.value
            #expect(try await client.session.refreshTokens())
            for (wait, isAccepted) in [(59, true), (2, false)] {
                client.session.clock.advance(by: .seconds(wait))
                client.session.tokens.set(old)
                #expect(try await client.session.refreshTokens() == isAccepted, "after \(wait) s more")
            }
        }
    }

    @Test("the older iOS SDK's refused refresh is 403, because a 401 would be refreshed without end", .covers("C-111"))
    func refusedRefresh() async throws {
        try await LegacyIOSClient.run { client in
            client.session.clock.advance(by: .seconds(31 * 24 * 3600))
            let answer = try await client.refresh(client.session.tokens.value)
            #expect(answer.status == 403)
            let isRefreshed = try await client.session.refreshTokens()
            #expect(!isRefreshed)
        }
    }

    @Test("parallel requests of the older iOS SDK with an expired token all get new tokens", .covers("C-82", "C-83"))
    func parallelRefreshes() async throws {
        try await LegacyIOSClient.run { client in
            client.session.clock.advance(by: .seconds(86_401))
            let old = client.session.tokens.value
            async let first = client.refresh(old)
            async let second = client.refresh(old)
            async let third = client.refresh(old)
            for answer in try await [first, second, third] {
                let new: ClientSession.Tokens = try answer.decoded(status: 200)
                client.session.tokens.set(new)
                let history = try await client.session.send(.get, "/voice/api/v2/transaction/history?count=50")
                #expect(history.status == 200)
                #expect(client.session.refreshCount.value == 0)
            }
        }
    }
}
