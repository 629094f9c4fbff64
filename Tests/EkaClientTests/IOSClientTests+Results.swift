import Basics
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

extension IOSClientTests {
    @Test("the iOS SDK gets a result that takes twenty seconds before its third poll", .covers("C-28", "C-29", "C-46"))
    func slowResult() async throws {
        try await IOSClient.run { client in
            try await client.record(id, visit: "fixture:slow")
            // Held for 14 s, two seconds of pause, and the rest of the twenty.
            let outcome = try await client.pollResult(id, holds: [.seconds(14), .seconds(4)])
            #expect(outcome.completed != nil, "no result after three polls")
        }
    }

    @Test("the iOS SDK decodes a 202 without output before there is a result", .covers("C-28", "C-46"))
    func waiting() async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id)
            let answer = try await client.session.clock.letting(pass: .seconds(14), hasJob: false) {
                try await client.status(id)
            }
            #expect(answer.status == 202)
            let result = try IOSClient.decode(answer, as: IOS.Result.self)
            #expect(result.data != nil)
            #expect(result.data?.output == nil)
        }
    }

    @Test("the iOS SDK's single poll gets the result, because the server holds the poll", .covers("C-29", "C-47"))
    func publicPoll() async throws {
        try await IOSClient.run { client in
            _ = try await client.start(id)
            _ = try await client.upload("1.m4a", of: id, with: client.credentials())
            _ = try await client.stop(id, ["1.m4a"])
            async let result = client.sessionOutput(id)
            try await client.session.clock.waitFor(.heldPoll)
            _ = try await client.commit(id, ["1.m4a"])
            #expect(try await result.data?.output?.first?.status == .success)
        }
    }

    @Test(
        "the iOS SDK's poll for a failed transaction is 200, with an error in every item",
        .covers("C-39", "C-41", "C-48"))
    func allFailed() async throws {
        try await IOSClient.run { client in
            try await client.record(id, visit: "fixture:no-speech")
            let result = try #require(try await client.pollResult(id).failed, "not failed")
            let items = try #require(result.data?.output)
            #expect(items.allSatisfy { $0.value == nil || $0.value == "" })
            let error = try #require(items.first?.errors?.first)
            #expect(error.type == "error")
            #expect(error.code == "no_speech")
            #expect(error.msg?.isEmpty == false)
        }
    }

    @Test("the iOS SDK decodes a partial result with its warning", .covers("C-39", "C-41"))
    func partial() async throws {
        try await IOSClient.run { client in
            try await client.record(id, visit: "fixture:partial")
            let result = try #require(try await client.pollResult(id).completed, "no result")
            let item = try #require(result.data?.output?.first)
            #expect(item.status == .partialSuccess)
            #expect(item.value?.base64Text?.isEmpty == false)
            #expect(item.warnings?.first?.code == "low_confidence")
            #expect(item.errors?.isEmpty == true)
        }
    }

    @Test("the iOS SDK's poll for an unknown transaction fails with a text to show", .covers("C-51"))
    func unknown() async throws {
        try await IOSClient.run { client in
            let answer = try await client.status("i-unknown")
            #expect(answer.status == 400)
            await #expect(throws: IOSFailure.server("Transaction not found")) {
                try await client.sessionOutput("i-unknown")
            }
        }
    }

    @Test("the iOS SDK reads an edited result back as it was sent", .covers("C-102"))
    func edit() async throws {
        try await IOSClient.run { client in
            try await client.record(id)
            _ = try await client.pollResult(id)
            let text = "# Edited\n- अच्छा \"quoted\""
            let answer = try await client.session.send(
                .patch, "/voice/api/v3/status/\(id)",
                #"[{"template-id":"clinical_notes_template","data":"\#(text.base64)"}]"#
            )
            let acknowledged = try IOSClient.decode(answer, as: IOS.Acknowledgement.self)
            #expect(acknowledged.status == "success")
            #expect(acknowledged.error == nil)
            #expect(try await client.sessionOutput(id).data?.output?.first?.value == text.base64, "verbatim")
        }
    }

    @Test("the iOS SDK converts without a body, and its next poll has the converted note", .covers("C-106", "C-107"))
    func convert() async throws {
        try await IOSClient.run { client in
            try await client.record(id)
            _ = try await client.pollResult(id)
            let answer = try await client.session.send(
                .post, "/voice/api/v1/transaction/\(id)/convert-to-template/soap"
            )
            let conversion = try IOSClient.decode(answer, as: IOS.Conversion.self)
            #expect(conversion.status == "success")
            #expect(conversion.templateId == "soap")
            #expect(conversion.txnId == id)
            let items = try await client.sessionOutput(id).data?.output ?? []
            #expect(items.compactMap(\.templateId) == ["clinical_notes_template", "soap"])
            #expect(items.last?.status == .success)
            #expect(items.last?.value?.base64Text?.contains("fever") == true)
        }
    }

    @Test("the iOS SDK decodes the history with integer ages, with and without count", .covers("C-99", "C-101"))
    func history() async throws {
        try await IOSClient.run { client in
            for number in 1...3 {
                try await client.record("\(id)-\(number)", chunks: [])
                client.session.clock.advance(by: .seconds(1))
            }
            let all: IOS.History = try IOSClient.decode(
                try await client.session.send(.get, "/voice/api/v2/transaction/history")
            )
            #expect(all.data?.map(\.txnId) == ["\(id)-3", "\(id)-2", "\(id)-1"])
            let two: IOS.History = try IOSClient.decode(
                try await client.session.send(.get, "/voice/api/v2/transaction/history?count=2")
            )
            #expect(two.retrievedCount == 2)
            let row = try #require(two.data?.first)
            #expect(row.flavour == "ScribeIOS")
            #expect(row.mode == "consultation")
            #expect(row.userStatus == "commit")
            #expect(row.createdAt == "2026-05-10T09:12:35Z")
            #expect(row.patientDetails?.age == 45)
            #expect(row.patientDetails?.username == "Asha")
        }
    }
}
