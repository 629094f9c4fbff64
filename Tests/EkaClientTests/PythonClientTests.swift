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

/// The Python SDK: whole files by their full URIs, nulls for what is absent, and exact statuses.
struct PythonClientTests {
    @Test(
        "the Python SDK gets a result after form upload and an init that answers exactly 201",
        .covers("C-02", "C-11", "C-13", "C-14", "C-15", "C-31", "C-60", "C-62", "C-64", "C-66", "C-79")
    )
    func wholeFlow() async throws {
        try await PythonClient.run { client in
            let (post, answer) = try await client.presignedPost("txn_301")
            #expect(answer.status == 200)
            #expect(post.txnId == "txn_301")
            #expect(post.uploadData.fields["x-amz-meta-uhid"] == "U-1")
            #expect(post.uploadData.fields["x-amz-meta-hfid"] == "H-1")
            let bucket = try #require(post.bucket, "\(post.uploadData.url) names no bucket for this SDK")
            let stored = try await client.upload("visit.mp3", to: post, answer)
            #expect(stored.status == 204, "\(stored.text)")
            let started = try await client.start("txn_301", post, bucket: bucket, files: ["visit.mp3"])
            #expect(started.status == 201)
            let result = try await client.result("txn_301")
            #expect(result.status == 200)
            #expect(try result["data.output.0.status"] == "success")
            #expect(try result["data.output.0.value"].base64Text?.contains("fever") == true)
            try await client.session.server.expectNotesAtMost()
        }
    }

    @Test(
        "the Python SDK's folder is found with and without its slash, and without a bucket name",
        .covers("C-14"), arguments: [true, false], ["m-prod-ekascribe-batch", nil]
    )
    func places(hasSlash: Bool, bucket: String?) async throws {
        try await PythonClient.run { client in
            let (post, answer) = try await client.presignedPost("txn_301")
            _ = try await client.upload("visit.mp3", to: post, answer)
            _ = try await client.start("txn_301", post, bucket: bucket, files: ["visit.mp3"], hasSlash: hasSlash)
            let result = try await client.result("txn_301")
            #expect(try result["data.output.0.status"] == "success")
        }
    }

    @Test(
        "file-upload accepts every action of the Python SDK, with and without a transaction id",
        .covers("C-61", "C-62"),
        arguments: ["default", "ekascribe", "ekascribe-v2"]
    )
    func actions(action: String) async throws {
        try await PythonClient.run { client in
            let named = try await client.presignedPost("txn_301", action: action)
            #expect(named.answer.status == 200)
            #expect(named.post.txnId == "txn_301")
            let unnamed = try await client.send(.post, "/v1/file-upload?action=\(action)", "{}")
            #expect(try unnamed.decoded(as: PresignedPost.self, status: 200).txnId.isEmpty == false)
        }
    }

    @Test("the manifest that the Python SDK uploads after the audio is not transcribed", .covers("C-68"))
    func manifest() async throws {
        try await PythonClient.run { client in
            let (post, answer) = try await client.presignedPost("txn_301", action: "ekascribe-v2")
            _ = try await client.upload("visit.mp3", to: post, answer)
            let manifest = try await client.upload(
                "txn_301.json", to: post, answer, type: "application/json",
                data: Data(#"{"client_generated_files": ["visit.mp3"], "uhid": "U-1"}"#.utf8)
            )
            #expect(manifest.status == 204, "\(manifest.text)")
            _ = try await client.start("txn_301", post, bucket: post.bucket, files: ["visit.mp3"])
            let result = try await client.result("txn_301")
            #expect(result.status == 200)
            #expect(result.json["data"]?["output"] != nil)
            #expect(!result.has("data.output.0.warnings.0.code"))
        }
    }

    @Test("the Python SDK's second init is refused, because only 201 means a start", .covers("C-02"))
    func secondInit() async throws {
        try await PythonClient.run { client in
            let (post, answer) = try await client.presignedPost("txn_301")
            _ = try await client.upload("visit.mp3", to: post, answer)
            _ = try await client.start("txn_301", post, bucket: post.bucket, files: ["visit.mp3"])
            await #expect(throws: PythonClient.Refused.self) {
                try await client.start("txn_301", post, bucket: post.bucket, files: ["visit.mp3"])
            }
        }
    }

    @Test("a failed transaction answers 500 to the Python SDK, which raises the error", .covers("C-49"))
    func allFailed() async throws {
        try await PythonClient.run { client in
            let (post, answer) = try await client.presignedPost("txn_301")
            _ = try await client.upload("visit.mp3", to: post, answer)
            _ = try await client.start(
                "txn_301", post, bucket: post.bucket, files: ["visit.mp3"],
                additional: #"{"fixture": "fixture:no-speech"}"#
            )
            let refused = await #expect(throws: PythonClient.Refused.self) { try await client.result("txn_301") }
            #expect(refused?.answer.status == 500)
            #expect(try refused?.answer["error.code"] == "output_not_available")
        }
    }

    @Test("the Python SDK refreshes tokens by the older path, with the refresh token alone", .covers("C-82"))
    func refresh() async throws {
        try await PythonClient.run { client in
            let old = client.session.tokens.value
            client.session.clock.advance(by: .seconds(86_401))
            let isRefreshed = try await client.session.refreshTokens()
            #expect(isRefreshed)
            #expect(client.session.tokens.value.accessToken != old.accessToken)
            #expect(try await client.send(.get, "/voice/api/v2/transaction/history").status == 200)
        }
    }

    @Test("the version 1 status answers the Python SDK with its own words and a FHIR bundle in base64")
    func firstVersion() async throws {
        try await PythonClient.run { client in
            let (post, answer) = try await client.presignedPost("txn_301", action: "ekascribe")
            _ = try await client.upload("visit.mp3", to: post, answer)
            _ = try await client.start("txn_301", post, bucket: post.bucket, files: ["visit.mp3"])
            _ = try await client.result("txn_301")
            let result = try await client.send(.get, "/voice-record/api/status/txn_301")
            #expect(result.status == 200)
            #expect(try result["status"] == "completed")
            let bundle = try #require(Data(base64Encoded: result["data.output.fhir"]))
            let json = try JSONDocument(bundle).value
            #expect(json["resourceType"] == .string("Bundle"))
        }
    }
}
