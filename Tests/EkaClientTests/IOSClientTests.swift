import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// The iOS SDK: records in chunks, polls three times.
struct IOSClientTests {
    let id = "i-3f2504e0-4f89-41d3-9a0c-0305e82c3301"

    @Test(
        "the iOS SDK takes a transaction from init to its notes, and a later full recording changes nothing",
        .covers(
            "C-01", "C-03", "C-04", "C-06", "C-11", "C-12", "C-19", "C-20", "C-25", "C-26", "C-31", "C-39", "C-41",
            "C-43", "C-53", "C-55", "C-57", "C-58", "C-69"
        )
    )
    func wholeFlow() async throws {
        try await IOSClient.run { client in
            let started = try await client.start(id)
            #expect(started.status == "success")
            #expect(started.txnId == id)
            #expect(started.bId == "b-demo")
            #expect(started.error == nil)
            let keys = try await client.credentials()
            #expect(keys.expiry == 43_200)
            let chunks = ["1.m4a", "2.m4a", "3.m4a"]
            for name in chunks {
                let answer = try await client.upload(name, of: id, with: keys, bid: started.bId ?? "")
                #expect(answer.status == 200, "\(answer.text)")
            }
            for acknowledged in [try await client.stop(id, chunks), try await client.commit(id, chunks)] {
                #expect(acknowledged.status == "success")
                #expect(acknowledged.txnId == id)
                #expect(acknowledged.bId == "b-demo")
                #expect(acknowledged.error == nil)
            }
            let result = try #require(try await client.pollResult(id).completed, "no result")
            let note = try #require(result.data?.output?.first)
            #expect(note.templateId == "clinical_notes_template")
            #expect(note.type == "markdown")
            #expect(note.status == .success)
            #expect(note.value?.base64Text?.contains("fever") == true, "base64, not the text itself")
            #expect(result.data?.createdAt == "2026-05-10T09:12:33Z")
            let late = try await client.upload("full_audio.m4a_", of: id, with: keys, bid: started.bId ?? "")
            #expect(late.status == 200)
            #expect(try await client.sessionOutput(id).texts == result.texts)
            try await client.session.server.expectNotesAtMost()
        }
    }

    @Test("chunk times that the iOS SDK sends with stop remain after a commit without times", .covers("C-20"))
    func timesOfStop() async throws {
        try await IOSClient.run { client in
            try await client.record(id)
            let result = try await client.sessionOutput(id)
            let transcript = try #require(result.data?.templateResults?.transcript?.first?.value?.base64Text)
            #expect(transcript.components(separatedBy: "since Monday").count == 2, "\(transcript)")
        }
    }

    @Test(
        "the iOS SDK's uploads are accepted on both spellings of the bucket host, with an empty business id",
        .covers("C-69", "C-73"),
        arguments: ["s3.ap-south-1.amazonaws.com", "s3-ap-south-1.amazonaws.com"]
    )
    func hosts(suffix: String) async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id)
            let answer = try await client.upload(
                "1.wav", of: id, with: client.credentials(), bid: "", audio: TestAudio.wav(seconds: 2),
                hostSuffix: suffix
            )
            #expect(answer.status == 200, "\(answer.text)")
            _ = try await client.commit(id, ["1.wav"])
            let outcome = try await client.pollResult(id)
            #expect(outcome.completed != nil, "the chunk was not found")
        }
    }

    @Test(
        "the iOS SDK's folder may be named after a date in any calendar and digits", .covers("C-16"),
        arguments: [("690510", "690510"), ("٢٦٠٥١٠", "%D9%A2%D9%A6%D9%A0%D9%A5%D9%A1%D9%A0")]
    )
    func folders(folder: String, escaped: String) async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id, folder: folder)
            let answer = try await client.upload("1.m4a", of: id, with: client.credentials(), folder: escaped)
            #expect(answer.status == 200, "\(answer.text)")
            _ = try await client.stop(id, ["1.m4a"])
            _ = try await client.commit(id, ["1.m4a"])
            let outcome = try await client.pollResult(id)
            #expect(outcome.completed != nil, "the chunk was not found")
        }
    }

    @Test("the iOS SDK's retry repeats init, stop and commit without a change", .covers("C-03", "C-18"))
    func repetition() async throws {
        try await IOSClient.run { client in
            #expect(try await client.start(id).bId == "b-demo")
            #expect(try await client.start(id).bId == "b-demo")
            let keys = try await client.credentials()
            _ = try await client.upload("1.m4a", of: id, with: keys)
            for _ in 0..<2 { #expect(try await client.stop(id, ["1.m4a"]).status == "success") }
            for _ in 0..<2 { #expect(try await client.commit(id, ["1.m4a"]).status == "success") }
            let first = try await client.sessionOutput(id).texts
            #expect(try await client.stop(id, ["1.m4a"]).status == "success")
            #expect(try await client.commit(id, ["1.m4a"]).status == "success")
            #expect(try await client.sessionOutput(id).texts == first)
            await #expect(throws: IOSFailure.server("Transaction already initialized")) { try await client.start(id) }
        }
    }

    @Test("the iOS SDK tells a used-up quota apart from every other failure", .covers("C-07"))
    func quota() async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await IOSClient(anonymous, clock, "dev-limited", "dev-limited-secret")
            await #expect(throws: IOSFailure.transactionLimitReached) { try await client.start(id) }
        }
    }

    @Test("the iOS SDK's transaction without chunks ends as failed", .covers("C-22", "C-48"))
    func emptySession() async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id)
            #expect(try await client.stop(id, []).status == "success")
            #expect(try await client.commit(id, []).status == "success")
            let result = try #require(try await client.pollResult(id).failed, "not failed")
            #expect(result.data?.output?.first?.errors?.first?.code == "no_audio")
        }
    }

    @Test("the iOS SDK's forced commit of some chunks succeeds, with a warning of the gap", .covers("C-23"))
    func forcedCommit() async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id)
            let keys = try await client.credentials()
            for name in ["1.m4a", "2.m4a", "4.m4a"] { _ = try await client.upload(name, of: id, with: keys) }
            _ = try await client.stop(id, ["1.m4a", "2.m4a", "4.m4a"])
            _ = try await client.commit(id, ["1.m4a", "4.m4a"])
            let result = try #require(try await client.pollResult(id).completed, "no result")
            let warnings = try #require(result.data?.output?.first?.warnings)
            #expect(warnings.map(\.code) == ["chunk_gap"])
            #expect(warnings.first?.msg?.contains("2, 3") == true)
        }
    }

    @Test("the iOS SDK repeats an upload with new credentials after the old ones have expired", .covers("C-75"))
    func expiredCredentials() async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id)
            let keys = try await client.credentials()
            client.session.clock.advance(by: .seconds(43_201))
            let answers = try await client.uploadPersistently("1.m4a", of: id, with: keys)
            #expect(answers.map(\.status) == [400, 200])
            #expect(answers.first?.text.contains("ExpiredToken") == true)
        }
    }

    @Test(
        "the iOS SDK refreshes an expired access token once and repeats the request, also for credentials",
        .covers("C-81", "C-82", "C-83", "C-84")
    )
    func refresh() async throws {
        try await IOSClient.run { client in
            let old = client.session.tokens.value
            client.session.clock.advance(by: .seconds(86_401))
            let started = try await client.start(id)
            #expect(started.status == "success")
            #expect(client.session.refreshCount.value == 1)
            #expect(client.session.tokens.value.accessToken != old.accessToken)
            #expect(client.session.tokens.value.refreshToken != old.refreshToken)
            client.session.clock.advance(by: .seconds(86_401))
            #expect(try await client.credentials().expiry == 43_200)
            #expect(client.session.refreshCount.value == 2)
        }
    }

    @Test("the iOS SDK's refused token refresh is not a 401, and its request fails", .covers("C-81", "C-111"))
    func refusedRefresh() async throws {
        try await IOSClient.run { client in
            client.session.clock.advance(by: .seconds(31 * 24 * 3600))
            let isRefreshed = try await client.session.refreshTokens()
            #expect(!isRefreshed)
            await #expect(throws: IOSFailure.self) { try await client.start(id) }
        }
    }

    @Test("a transaction that the iOS SDK left without a commit is active_session after two hours", .covers("C-108"))
    func cancelled() async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id)
            client.session.clock.advance(by: .seconds(7201))
            let answer = try await client.status(id)
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "active_session")
        }
    }
}
