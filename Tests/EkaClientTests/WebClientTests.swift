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

/// The web SDK: exact statuses on the way, and of a poll's statuses nearly all are success.
struct WebClientTests {
    let id = "visit-301"

    @Test(
        "the web SDK takes a transaction from init to its notes, with either credential header",
        .covers(
            "C-01", "C-03", "C-04", "C-05", "C-17", "C-21", "C-43", "C-55", "C-59", "C-78", "C-79"
        ),
        arguments: [false, true]
    )
    func wholeFlow(isCurrent: Bool) async throws {
        try await WebClient.run(isCurrent: isCurrent) { client in
            let started = try await client.start(id, templates: ["clinical_notes_template", "eka_emr_template"])
            #expect(started.status == 201)
            #expect(try started["b_id"] == "b-demo")
            #expect(try started["oid"] == "o-demo")
            #expect(try started["uuid"] == "u-demo")
            #expect(try started["message"].isEmpty == false)
            let signer = try await client.signer()
            for name in ["1.mp3", "2.mp3"] {
                let stored = try await client.upload(name, of: id, with: signer)
                #expect(stored.status == 200, "\(stored.text)")
                #expect(stored.headers[.eTag]?.isEmpty == false)
            }
            for verb in ["stop", "commit"] {
                #expect(try await client.list(verb, id, ["1.mp3", "2.mp3"]).status == 200)
            }
            let result = try #require(try await client.poll(id).success, "no result")
            #expect(result.status == 200)
            let note = try #require(result["data.template_results.custom.0.value"].base64Text)
            #expect(note.contains("fever"))
            let record = try #require(result["data.template_results.integration.0.value"].base64Text)
            #expect(try JSONDocument(Data(record.utf8)).value.isObject)
            #expect(try result["data.template_results.transcript.0.lang"] == "raw")
            #expect(try result["data.template_results.transcript.0.value"].base64Text?.contains("fever") == true)
            try await client.session.server.expectNotesAtMost()
        }
    }

    @Test("the web SDK may commit fewer files than its stop has listed", .covers("C-17", "C-23"))
    func forcedCommit() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            let signer = try await client.signer()
            _ = try await client.upload("1.mp3", of: id, with: signer)
            #expect(try await client.list("stop", id, ["1.mp3", "2.mp3", "3.mp3"]).status == 200)
            #expect(try await client.list("commit", id, ["1.mp3"]).status == 200)
            let result = try #require(try await client.poll(id).success)
            #expect(try result["data.output.0.status"] == "success")
        }
    }

    @Test("the web SDK may stop and commit with empty lists, and the transaction fails", .covers("C-22", "C-49"))
    func emptySession() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            #expect(try await client.list("stop", id, []).status == 200)
            #expect(try await client.list("commit", id, []).status == 200)
            #expect(try await client.poll(id).failed?.isEmpty == false)
        }
    }

    @Test("a used-up quota answers the web SDK with exactly 400", .covers("C-08"))
    func quota() async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await WebClient(anonymous, clock, "dev-limited", "dev-limited-secret")
            let answer = try await client.start(id)
            #expect(answer.status == 400)
            #expect(try answer["error.code"] == "txn_limit_exceeded")
        }
    }

    @Test(
        "the web SDK gets a whole file's result after form upload and init, without stop or commit",
        .covers("C-14", "C-15", "C-63", "C-64", "C-66", "C-67")
    )
    func wholeFile() async throws {
        try await WebClient.run { client in
            let (post, answer) = try await client.presignedPost(id)
            #expect(post.txnId == id)
            let form = MultipartForm(
                dialect: .browser, fields: post.fields(of: answer, key: post.folderPath + "visit.mp3"),
                name: "visit.mp3", type: "audio/mpeg", data: TestAudio.mp3(seconds: 30)
            )
            let stored = try await form.send(
                to: post.uploadData.url, through: client.session.server,
                headers: HTTPFields([("Origin", WebClient.origin)])
            )
            #expect(stored.status == 204, "\(stored.text)")
            let started = try await client.start(
                id,
                transfer: #"""
                    "transfer":"non-vaded","batch_s3_url":"\#(post.uploadData.url)\#(post.folderPath)",
                    "client_generated_files":["visit.mp3"]
                    """#
            )
            #expect(started.status == 201, "\(started.text)")
            let result = try #require(try await client.poll(id).success, "no result")
            #expect(try result["data.output.0.value"].base64Text?.contains("fever") == true)
        }
    }

    @Test("the web SDK's poll is held for less than the sixteen seconds that it waits", .covers("C-28", "C-29", "C-30"))
    func hold() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            for query in ["", "?transcript=true"] {
                let before = client.session.clock.now
                let answer = try await client.session.clock.letting(pass: .seconds(14), hasJob: false) {
                    try await client.status(id, query)
                }
                #expect(answer.status == 202)
                #expect(client.session.clock.now.timeIntervalSince(before) < 16)
            }
        }
    }

    @Test("the web SDK gets a result that takes twenty seconds on its second poll", .covers("C-28", "C-29"))
    func slowResult() async throws {
        try await WebClient.run { client in
            try await client.record(id, additional: #"{"fixture":"fixture:slow"}"#)
            let result = try #require(try await client.poll(id, holds: [.seconds(14), .seconds(5)]).success)
            #expect(result.status == 200)
        }
    }

    @Test("a failed recognition answers the web SDK with a server error and its reason", .covers("C-49"))
    func allFailed() async throws {
        try await WebClient.run { client in
            try await client.record(id, additional: #"{"fixture":"fixture:recogniser-down"}"#)
            #expect(try await client.status(id).status >= 500)
            // All that their app is told says why.
            let told = try await client.poll(id).failed
            #expect(told?.hasPrefix("Transcription failed") == true, "\(told ?? "")")
        }
    }

    @Test("the web SDK reads a partial result as success with status 206")
    func partial() async throws {
        try await WebClient.run { client in
            try await client.record(id, additional: #"{"fixture":"fixture:partial"}"#)
            let result = try #require(try await client.poll(id).success)
            #expect(result.status == 206)
            #expect(try result["data.output.0.status"] == "partial_success")
        }
    }

    @Test(
        "a missing, cancelled, expired or deleted transaction is neither success nor 401 for the web SDK",
        .covers("C-51", "C-52"), arguments: ["unknown", "cancelled", "forgotten", "deleted"]
    )
    func noResult(fate: String) async throws {
        try await WebClient.run { client in
            if fate != "unknown" { _ = try await client.start(id) }
            switch fate {
            case "cancelled": #expect(try await client.cancel(id).isSuccess)
            case "deleted":
                let answer = try await client.session.send(.delete, "/voice/api/v2/transaction/\(id)")
                #expect(answer.isSuccess)
            case "forgotten": client.session.clock.advance(by: .seconds(7201))
            default: break
            }
            try await client.renewToken()
            for query in ["", "?template_id=nope", "?document_id=nope"] {
                #expect(try await client.status(id, query).status == 400, "\(query)")
            }
            #expect(try await client.poll(id).failed?.isEmpty == false)
        }
    }

    @Test("the web SDK's poll with no token or an expired token is 401", .covers("C-52", "C-81"))
    func unauthorised() async throws {
        try await WebClient.run { client in
            client.session.clock.advance(by: .seconds(86_401))
            let path = "/voice/api/v3/status/\(id)"
            for answer in [try await client.status(id), try await client.session.server.get(path)] {
                #expect(answer.status == 401)
            }
            #expect(try await client.poll(id).failed == "unauthorised")
        }
    }

    @Test(
        "expired upload credentials are 400, because 401, 403 and 404 would end the web SDK's upload",
        .covers("C-75")
    )
    func expiredCredentials() async throws {
        try await WebClient.run { client in
            _ = try await client.start(id)
            let signer = try await client.signer()
            client.session.clock.advance(by: .seconds(43_201))
            let refused = try await client.upload("1.mp3", of: id, with: signer)
            #expect(refused.status == 400)
            #expect(refused.xml("Code") == "ExpiredToken")
            try await client.renewToken()
            #expect(try await client.upload("1.mp3", of: id, with: client.signer()).status == 200)
        }
    }
}
