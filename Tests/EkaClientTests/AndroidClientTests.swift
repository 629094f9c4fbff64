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

/// The Android SDK: asks for the transcript first, and for the notes when it is there.
struct AndroidClientTests {
    let id = "a-3f2504e0-4f89-41d3-9a0c-0305e82c3301"
    static let transcript = "?template_id=transcript"

    @Test(
        "the Android SDK takes a transaction from init through the transcript to its notes",
        .covers(
            "C-01", "C-04", "C-06", "C-11", "C-12", "C-19", "C-20", "C-27", "C-32", "C-35", "C-36", "C-37",
            "C-38", "C-41", "C-43", "C-53", "C-55", "C-57", "C-58", "C-71"
        )
    )
    func wholeFlow() async throws {
        try await AndroidClient.run { client in
            let answer = try await client.start(id, templates: ["clinical_notes_template", "eka_emr_template"])
            let started: Android.Acknowledgement = try answer.decoded()
            #expect(answer.isSuccess)
            #expect(started.bId == "b-demo")
            let keys = try await client.credentials()
            #expect(keys.expiry == 43_200)
            #expect(try await client.region(with: keys) == "ap-south-1")
            let chunks = ["1.mp3", "2.mp3"]
            for name in chunks {
                let stored = try await client.upload(name, of: id, with: keys, bid: started.bId ?? "")
                #expect(stored.status == 200, "\(stored.text)")
                #expect(stored.headers[.eTag]?.isEmpty == false)
            }
            for acknowledged in [try await client.stop(id, chunks), try await client.commit(id, chunks)] {
                #expect(acknowledged.status == "success")
                #expect(acknowledged.bId == "b-demo")
                #expect(acknowledged.error == nil)
            }
            let first = try #require(
                try await client.poll(id, Self.transcript).ready, "no transcript: the second phase is skipped")
            #expect(first.transcripts.count == 1)
            #expect(first.transcripts.first?.contains("fever") == true)
            #expect(first.notes.isEmpty)
            let second = try #require(try await client.poll(id, "").ready, "no notes")
            #expect(second.notes.map(\.isEditable) == [false, true])
            #expect(second.notes.allSatisfy { $0.sections.first?.value.isEmpty == false })
            #expect(second.transcripts == first.transcripts)
            try await client.session.server.expectNotesAtMost()
        }
    }

    @Test(
        "the Android SDK reads a structured note as sections with titles and values", .covers("C-56"))
    func sections() async throws {
        try await AndroidClient.run { client in
            try await client.record(id, templates: ["soap"])
            let result = try #require(try await client.poll(id, "").ready, "no notes")
            let note = try #require(result.notes.first)
            #expect(note.sections.map(\.title).contains("Subjective"))
            #expect(note.sections.contains { $0.value.contains("fever") })
        }
    }

    @Test(
        "the Android SDK's poll for the transcript is held until the transcript is written", .covers("C-29"))
    func slowTranscript() async throws {
        try await AndroidClient.run { client in
            try await client.record(id, visit: "fixture:slow")
            let first = try await client.poll(id, Self.transcript, holds: [.seconds(14), .seconds(4)])
            let result = try #require(first.ready, "Result timeout!")
            #expect(result.transcripts.isEmpty == false)
        }
    }

    @Test(
        "the Android SDK's polls for a failed transaction are 200, without an empty list",
        .covers("C-32", "C-33", "C-35", "C-39", "C-48"), arguments: ["no-speech", "recogniser-down"]
    )
    func allFailed(fixture: String) async throws {
        try await AndroidClient.run { client in
            try await client.record(id, visit: "fixture:\(fixture)")
            for query in [Self.transcript, ""] {
                let result = try #require(try await client.poll(id, query).failed, "not failed")
                #expect(result.statuses.isEmpty == false, "a list that is empty fails a session that works, too")
            }
        }
    }

    @Test("the Android SDK's transaction without chunks ends as failed", .covers("C-22", "C-33", "C-48"))
    func emptySession() async throws {
        try await AndroidClient.run { client in
            _ = try await client.start(id)
            #expect(try await client.stop(id, []).status == "success")
            #expect(try await client.commit(id, []).status == "success")
            let result = try #require(try await client.poll(id, Self.transcript).failed, "not failed")
            #expect(result.data?.templateResults?.transcript?.first?.errors?.first?.code == "no_audio")
        }
    }

    @Test("a partial result ends both polls of the Android SDK", .covers("C-39", "C-41"))
    func partial() async throws {
        try await AndroidClient.run { client in
            try await client.record(id, visit: "fixture:partial")
            for query in [Self.transcript, ""] {
                let result = try #require(try await client.poll(id, query).ready, "no result")
                #expect(Set(result.statuses) == ["partial_success"])
            }
        }
    }

    @Test("the Android SDK's poll is 202 before there is a result", .covers("C-28", "C-33"))
    func waiting() async throws {
        try await AndroidClient.run { client in
            _ = try await client.start(id)
            let answer = try await client.session.clock.letting(pass: .seconds(14), hasJob: false) {
                try await client.status(id, Self.transcript)
            }
            #expect(answer.status == 202)
        }
    }

    @Test("the Android SDK's retry repeats init, stop and commit with the saved request", .covers("C-18"))
    func repetition() async throws {
        try await AndroidClient.run { client in
            for _ in 0..<2 {
                let answer = try await client.start(id)
                #expect(answer.isSuccess)
                #expect(try answer["b_id"] == "b-demo")
            }
            let keys = try await client.credentials()
            _ = try await client.upload("1.mp3", of: id, with: keys)
            for _ in 0..<2 { #expect(try await client.stop(id, ["1.mp3"]).status == "success") }
            for _ in 0..<2 { #expect(try await client.commit(id, ["1.mp3"]).status == "success") }
            let late = try await client.start(id)
            #expect(late.status == 409)
            #expect(try late.decoded(as: Android.Refusal.self).error?.message == "Transaction already initialized")
        }
    }

    @Test("a refused stop or commit gives the Android SDK its reason as a text", arguments: ["stop", "commit"])
    func refusedEnd(step: String) async throws {
        try await AndroidClient.run { client in
            let path = "/voice/api/v2/transaction/\(step)/no-such-transaction"
            let answer = try await client.session.send(.post, path, #"{"audio_files":["1.mp3"],"chunk_info":[]}"#)
            #expect(answer.status == 404)
            #expect(try answer.decoded(as: Android.Acknowledgement.self).error == "Transaction not found")
            let others = try await client.session.server.login().post(path, #"{"audio_files":["1.mp3"]}"#)
            #expect(try others["error.code"] == "transaction_not_found")
        }
    }

    @Test("a refused init has its reason where the Android SDK reads it", .covers("C-10"))
    func refusedInit() async throws {
        try await AndroidClient.run { client in
            let answer = try await client.session.send(
                .post, "/voice/api/v2/transaction/init/\(id)", #"{"mode":"consultation","transfer":"vaded"}"#
            )
            #expect(answer.status == 400)
            let refusal = try answer.decoded(as: Android.Refusal.self)
            #expect(refusal.error?.message?.isEmpty == false)
            #expect(refusal.error?.displayMessage?.isEmpty == false)
        }
    }

    @Test(
        "the Android SDK's upload in signed chunks is stored without their framing, with type and metadata",
        .covers("C-70"))
    func signedChunks() async throws {
        try await AndroidClient.run { client in
            let keys = try await client.credentials()
            let audio = TestAudio.mp3(seconds: 20)
            try #require(audio.count > 2 * 128 << 10, "three chunks and the last")
            let answer = try await client.upload("1.mp3", of: id, with: keys, audio: audio)
            #expect(answer.status == 200, "\(answer.text)")
            let stored = try await client.download("1.mp3", of: id, with: keys)
            #expect(stored.body == audio)
            #expect(stored.headers[.contentType] == "audio/mpeg")
            for (name, value) in [("x-amz-meta-bid", "b-demo"), ("x-amz-meta-txnid", id)] {
                #expect(stored.headers[try #require(HTTPField.Name(name))] == value)
            }
        }
    }

    @Test(
        "the Android SDK uploads a full recording of more than 5 MiB in parts, and it is no chunk",
        .covers("C-25", "C-72"))
    func fullRecording() async throws {
        try await AndroidClient.run { client in
            _ = try await client.start(id)
            let keys = try await client.credentials()
            _ = try await client.upload("1.mp3", of: id, with: keys)
            let whole = TestAudio.mp3(seconds: 400)
            try #require(whole.count > AndroidClient.partSize)
            let stored = try await client.uploadInParts("full_audio.mp3", of: id, with: keys, audio: whole)
            #expect(stored.status == 200, "\(stored.text)")
            #expect(stored.xml("ETag")?.hasSuffix("-2&quot;") == true, "\(stored.text)")
            #expect(try await client.download("full_audio.mp3", of: id, with: keys).body == whole)
            _ = try await client.stop(id, ["1.mp3"])
            _ = try await client.commit(id, ["1.mp3"])
            let result = try #require(try await client.poll(id, Self.transcript).ready, "no transcript")
            #expect(result.transcripts.first?.components(separatedBy: "fever").count == 2, "said once")
        }
    }
}
