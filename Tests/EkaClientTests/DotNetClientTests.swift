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

/// The .NET SDK: whole files, no stop, no commit, and a result only of two words.
struct DotNetClientTests {
    @Test(
        "the .NET SDK gets a result after form upload and init, without stop or commit",
        .covers("C-01", "C-14", "C-15", "C-31", "C-43", "C-54", "C-61", "C-64", "C-65", "C-66", "C-67", "C-79")
    )
    func wholeFlow() async throws {
        try await DotNetClient.run { client in
            let post = try await client.presignedPost()
            #expect(!post.txnId.isEmpty)
            #expect(post.uploadData.url.hasSuffix("/"))
            #expect(post.folderPath.hasSuffix("/"))
            #expect(!post.folderPath.hasPrefix("/"))
            #expect(post.folderPath.contains(post.txnId))
            #expect(post.uploadData.fields["key"] == post.folderPath + "${filename}")
            let stored = try await client.upload("visit.m4a", to: post, audio: TestAudio.m4a(seconds: 30))
            #expect(stored.status == 204, "\(stored.text)")
            #expect(stored.body.isEmpty)
            let started = try await client.start(
                post, files: ["visit.m4a"], additional: #"{"visit":{"number":7},"tags":["a"],"urgent":true}"#
            )
            #expect(started.status == 201, "\(started.text)")
            let result = try #require(try await client.poll(post.txnId), "five minutes are over")
            let note = try #require(result.data?.output?.first)
            #expect(note.templateId == "clinical_notes_template")
            #expect(note.status == "success")
            #expect(note.value?.base64Text?.contains("fever") == true)
            #expect(result.data?.additionalData?["visit"] == .object(["number": .integer(7)]))
            try await client.session.server.expectNotesAtMost()
        }
    }

    @Test("two presigned posts of the .NET SDK without an id are two transactions", .covers("C-61"))
    func generatedIDs() async throws {
        try await DotNetClient.run { client in
            let first = try await client.presignedPost()
            let second = try await client.presignedPost()
            #expect(first.txnId != second.txnId)
            #expect(first.folderPath != second.folderPath)
        }
    }

    @Test("several files of one .NET transaction give one result", .covers("C-15"))
    func severalFiles() async throws {
        try await DotNetClient.run { client in
            let post = try await client.presignedPost()
            for name in ["one.m4a", "two.m4a"] {
                let stored = try await client.upload(name, to: post, audio: TestAudio.m4a(seconds: 10))
                #expect(stored.status == 204, "\(stored.text)")
            }
            let started = try await client.start(post, files: ["one.m4a", "two.m4a"])
            #expect(started.isSuccess)
            let items = try #require(try await client.poll(post.txnId)?.data?.output)
            #expect(items.allSatisfy { $0.warnings?.isEmpty == true })
        }
    }

    @Test("the .NET SDK reads a failed transaction as failed, with errors as texts", .covers("C-42", "C-50"))
    func allFailed() async throws {
        try await DotNetClient.run { client in
            let id = try await client.record(additional: #"{"fixture":"fixture:no-speech"}"#)
            let items = try #require(try await client.poll(id)?.data?.output, "five minutes are over")
            #expect(items.map(\.status) == ["failed"])
            #expect(items.first?.errors?.first?.isEmpty == false)
        }
    }

    @Test("the .NET SDK reads a partial result as success, with its warning as a text", .covers("C-42"))
    func partial() async throws {
        try await DotNetClient.run { client in
            let id = try await client.record(additional: #"{"fixture":"fixture:partial"}"#)
            let items = try #require(try await client.poll(id)?.data?.output, "five minutes are over")
            #expect(items.map(\.status) == ["success"])
            #expect(items.first?.warnings?.isEmpty == false)
        }
    }

    @Test("the .NET SDK gets a result that takes twenty seconds on its second poll", .covers("C-28", "C-29"))
    func slowResult() async throws {
        try await DotNetClient.run { client in
            let id = try await client.record(additional: #"{"fixture":"fixture:slow"}"#)
            let result = try await client.poll(id, holds: [.seconds(14), .seconds(1)])
            #expect(result?.data?.output?.first?.status == "success")
        }
    }

    @Test("a .NET form for another folder, or after its expiry, is refused and stores nothing", .covers("C-66"))
    func policy() async throws {
        try await DotNetClient.run { client in
            let post = try await client.presignedPost()
            let elsewhere = MultipartForm(
                dialect: .dotnet, fields: post.fieldsAfterKey("elsewhere/visit.m4a"), name: "visit.m4a",
                data: TestAudio.m4a(seconds: 1)
            )
            let refused = try await elsewhere.send(to: post.uploadData.url, through: client.session.server)
            #expect(refused.status == 403)
            #expect(refused.xml("Code") == "AccessDenied")
            client.session.clock.advance(by: .seconds(3 * 3600 + 1))
            let late = try await client.upload("visit.m4a", to: post, audio: TestAudio.m4a(seconds: 1))
            #expect(late.status == 403)
            #expect(late.xml("Code") == "AccessDenied")
        }
    }

    @Test("the .NET SDK refreshes its tokens with the expired token in the headers", .covers("C-83"))
    func refresh() async throws {
        try await DotNetClient.run { client in
            client.session.clock.advance(by: .seconds(86_401))
            let old = client.session.tokens.value
            let answer = try await client.session.server.send(
                .post, "/connect-auth/v1/account/refresh-token", host: "api.eka.care",
                headers: client.session.headers(old)
                    + HTTPFields([("Client-Id", "dev-client"), ("Content-Type", "application/json; charset=utf-8")]),
                body: Data(#"{"refresh_token":"\#(old.refreshToken)","access_token":"\#(old.accessToken)"}"#.utf8)
            )
            let new: ClientSession.Tokens = try answer.decoded(status: 200)
            #expect(new.accessToken != old.accessToken)
            #expect(!new.refreshToken.isEmpty)
        }
    }
}
