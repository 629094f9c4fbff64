import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Alliance
@testable import ScribeHTTP
@testable import ScribeServer

struct SessionAudioTests {
    @Test(
        "an audio file name is stored as its last number and its lower-case extension", .covers("M-26", "M-32"),
        arguments: [
            ("chunk_0.wav", "0.wav"), ("audio_3.webm", "3.webm"), ("1.mp3", "1.mp3"), ("a-b_12.m4a", "12.m4a"),
            ("007.OGG", "7.ogg"), ("x1y2.wav", "2.wav"),
        ])
    func names(text: String, stored: String) throws {
        #expect(try AudioFileName(text).stored == stored)
    }

    @Test(
        "an audio file name without a number and an extension is refused",
        arguments: ["chunk.wav", "1", "1.", ".wav", "1.2.wav", "a/1.wav", "é1.wav", "1234567890.wav", "", "1.wav\n"])
    func noNames(text: String) { #expect(throws: AllianceError.self) { try AudioFileName(text) } }

    @Test(
        "the type of uploaded audio is the header's audio type, else the extension's", .covers("M-26", "M-28"),
        arguments: [
            ("1.wav", "audio/wav", "audio/wav"), ("1.mp3", "Audio/WebM; codecs=opus", "audio/webm;codecs=opus"),
            ("1.webm", "application/octet-stream", "audio/webm;codecs=opus"), ("1.m4a", "", "audio/m4a"),
            ("1.wav", "audio/x-wav", "audio/x-wav"), ("1.mp3", "audio/mpeg", "audio/mpeg"),
        ])
    func types(name: String, header: String, type: String) throws {
        #expect(try AudioFileName(name).contentType(header.isEmpty ? nil : header) == type)
    }

    @Test("an upload whose type is no audio is refused with the list of supported formats", .covers("M-28"))
    func formats() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session()
            for (name, type) in [
                ("1.exe", "application/octet-stream"), ("1.wav", "audio/midi"), ("1.txt", "text/plain"),
            ] {
                let answer = try await client.sendAudio(name, to: id, type: type)
                #expect(answer.status == 400)
                #expect(try answer["error.code"] == "invalid_audio_format")
                #expect(answer.json["error"]?["details"]?["supported_formats"] != nil)
            }
            let bad = try await client.sendAudio("chunk.wav", to: id)
            #expect(bad.status == 400)
            #expect(try bad["error.code"] == "invalid_request")
            #expect(try await client.read(id).json["audio_files_received"] == .integer(0))
        }
    }

    @Test("an upload with a chunk number in use replaces that chunk, whatever its extension", .covers("M-29"))
    func again() async throws {
        let server = try TestServer()
        try await server.run { [server] anonymous in
            let client = try await anonymous.login()
            let id = try await client.session()
            for name in ["chunk_1.wav", "chunk_1.wav", "1.mp3", "audio_1.wav"] {
                #expect(try await client.sendAudio(name, to: id).status == 200)
            }
            #expect(try await client.read(id).json["audio_files"] == .array([.string("1.wav")]))
            let files = try server.objectFiles()
            #expect(files.count == 1)
        }
    }

    @Test("chunks that are uploaded at the same time are all counted when the protocol session ends", .covers("M-31"))
    func parallel() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<12 {
                    group.addTask { try await client.sendAudio("chunk_\(number).wav", to: id).status }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(try await client.end(id).json["audio_files_received"] == .integer(12))
        }
    }

    @Test("an audio upload of ten megabytes is accepted, and one byte more is 413", .covers("M-26", "M-27"))
    func size() async throws {
        let server = try TestServer()
        try await server.run { [server] anonymous in
            let client = try await anonymous.login()
            let id = try await client.session()
            #expect(try await client.sendAudio("1.wav", to: id, Data(count: 10 << 20)).status == 200)
            for path in ["/audio/2.wav", "/audio"] {
                let answer = try await client.send(
                    .post, "\(TestScribeClient.sessions)/\(id)\(path)", headers: [.contentType: "audio/wav"],
                    body: Data(count: 10 << 20 + 1))
                #expect(answer.status == 413)
                #expect(try answer["error.code"] == "chunk_too_large")
            }
            let files = try server.objectFiles()
            #expect(files.count == 1)
        }
    }

    @Test("a multipart body is parsed as a form even if its content type says audio", .covers("M-33"))
    func forms() async throws {
        let audio = TestAudio.wav(seconds: 2)
        let form =
            Data("------b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"chunk_4.wav\"\r\n".utf8)
            + Data("Content-Type: audio/wav\r\n\r\n".utf8) + audio + Data("\r\n------b--\r\n".utf8)
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session(#","templates":["soap"]"#)
            let lying = try await client.sendAudio("1.mp3", to: id, form, type: "audio/webm;codecs=opus")
            #expect(lying.status == 200)
            let path = "\(TestScribeClient.sessions)/\(id)/audio"
            let announced = try await client.send(
                .post, path, headers: [.contentType: "multipart/form-data; boundary=----b"], body: form)
            #expect(announced.status == 200)
            #expect(try announced["original_filename"] == "chunk_4.wav")
            let attached = try await client.send(
                .post, path,
                headers: [.contentType: "audio/wav", .contentDisposition: #"attachment; filename="chunk_5.wav""#],
                body: audio)
            #expect(try attached["original_filename"] == "chunk_5.wav")
            let whole = try await client.send(
                .post, path,
                headers: [.contentType: "audio/wav", .contentDisposition: #"attachment; filename="my recording.wav""#],
                body: audio)
            #expect(whole.status == 200)
            let broken = try await client.send(
                .post, path, headers: [.contentType: "multipart/form-data; boundary=----b"], body: form.dropLast(9))
            #expect(broken.status == 400)
            // Bytes that only begin like a form are what they are.
            #expect(try await client.sendAudio("7.wav", to: id, Data("--".utf8)).status == 200)
            let read = try await client.read(id)
            let names = ["0.wav", "1.mp3", "4.wav", "5.wav", "7.wav"]
            #expect(read.json["audio_files"] == .array(names.map { .string($0) }))
        }
    }

    @Test("all audio of a protocol session can be read as one recording for a day after its end")
    func combined() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let id = try await client.session()
            let path = "\(TestScribeClient.sessions)/\(id)/audio"
            for number in 1...3 { _ = try await client.sendAudio("\(number).wav", to: id) }
            _ = try await client.sendAudio("4.wav", to: id, Data("no audio".utf8))
            let early = try await client.get(path)
            #expect(early.status == 404)
            #expect(try early["error.code"] == "audio_not_available")
            _ = try await client.end(id)
            let found = try await client.get(path)
            #expect(found.status == 200)
            #expect(found.json["expires_in"] == .integer(86_400))
            let url = try found["audio_url"]
            let link = String(url[try #require(url.range(of: "/voice/v1/audio")).lowerBound...])
            let played = try await anonymous.get(link)
            #expect(played.status == 200)
            #expect(played.headers[.contentType] == "audio/mpeg")
            // Three times two seconds of 64 kbit/s, and no header between them.
            #expect((44_000...54_000).contains(played.body.count))
            #expect(played.body.prefix(1) == Data([0xFF]))
            #expect(try await anonymous.get(link + "x").status == 403)
            manual.advance(by: .seconds(86_399))
            #expect(try await anonymous.get(link).status == 200)
            let later = try await anonymous.login()
            _ = try await later.send(.delete, "/voice/api/v2/transaction/\(id)")
            #expect(try await anonymous.get(link).status == 404)
            manual.advance(by: .seconds(1))
            #expect(try await anonymous.get(link).status == 403)
        }
    }

    @Test(
        "the presigned upload form needs no token, stores chunks, and is refused after the end", .covers("M-34", "M-35")
    )
    func presignedForm() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let created = try await client.post(
                "\(TestScribeClient.sessions)?version=v2", #"{"upload_type":"chunked"}"#)
            let id = try created["session_id"]
            func post(_ answer: TestAnswer, _ name: String, folder: String? = nil) async throws -> Int {
                guard case .object(let fields)? = answer.json["upload_url"]?["uploadData"]?["fields"] else { return 0 }
                var body = Data()
                for (field, value) in fields {
                    var text = value.stringValue ?? ""
                    if field == "key", let folder { text = folder }
                    body += Data("--b\r\nContent-Disposition: form-data; name=\"\(field)\"\r\n\r\n\(text)\r\n".utf8)
                }
                body += Data(
                    ("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\n"
                        + "Content-Type: audio/mp3\r\n\r\n").utf8)
                body += TestAudio.wav(seconds: 2) + Data("\r\n--b--\r\n".utf8)
                let path =
                    "/" + (try answer["upload_url.uploadData.url"]).split(separator: "/").dropFirst(2).joined() + "/"
                return try await anonymous.send(
                    .post, path, headers: [.contentType: "multipart/form-data; boundary=b"], body: body
                ).status
            }
            #expect(try await post(created, "1.mp3") == 204)
            let fresh = try await client.read(id, "?version=v2")
            #expect(fresh.status == 202)
            #expect(try await post(fresh, "2.mp3") == 204)
            // A form's names are its client's: two with one number are two recordings.
            #expect(try await post(fresh, "2.wav") == 204)
            #expect(try await post(fresh, "3.mp3", folder: "sessions/another/${filename}") == 403)
            #expect(try await client.read(id).json["audio_files_received"] == .integer(3))
            #expect(try await client.end(id, #"{"audio_files_sent":3,"audio_files_uploaded":3}"#).status == 202)
            #expect(try await post(fresh, "3.mp3") == 403)
            #expect(try await client.read(id).status == 200)
        }
    }
}
