import Crypto
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

/// What the Android SDK sends, when it does, and what it makes of the answers.
struct AndroidClient: Sendable {
    static let bucket = "m-prod-voice-record"
    static let pollPause = Duration.seconds(2)
    static let pollLimit = 3
    static let partSize = 5 << 20

    let session: ClientSession

    init(_ server: TestScribeClient, _ clock: ManualClock, host: String = "api.eka.care") async throws {
        let isEkaCare = host.hasSuffix("eka.care")
        var session = try await ClientSession(
            server, clock, login: #"{"client_id":"dev-client","client_secret":"dev-secret"}"#, refresh: .withBothTokens
        ) { tokens in
            // The HTTP stack under the SDK gives its tokens to that domain only.
            HTTPFields(
                (isEkaCare
                    ? [("Authorization", "Bearer \(tokens.accessToken)"), ("auth", tokens.accessToken)] : [])
                    + [
                        ("client-id", "dev-client"), ("flavour", "android"), ("Accept-Encoding", "br,gzip"),
                        ("User-Agent", "okhttp/4.12.0"),
                    ])
        }
        session.host = host
        self.session = session
    }

    static func run(_ test: @escaping @Sendable (AndroidClient) async throws -> Void) async throws {
        let server = try TestServer()
        let clock = server.manual
        try await server.run(.socket) { try await test(AndroidClient($0, clock)) }
    }

    // MARK: Recording

    func start(
        _ id: String, visit: String = "v-1", age: Int = 45, templates: [String] = ["clinical_notes_template"]
    ) async throws -> TestAnswer {
        let wanted = templates.map { #"{"template_id":"\#($0)","template_name":"Notes","template_type":"custom"}"# }
        return try await session.send(
            .post, "/voice/api/v2/transaction/init/\(id)",
            #"""
            {"input_language":["en-IN"],"mode":"consultation","model_type":"pro",
             "output_format_template":[\#(wanted.joined(separator: ","))],
             "patient_details":{"age":\#(age),"biologicalSex":"M","oid":"p-1","username":"Asha","visit_id":"\#(visit)"},
             "s3_url":"s3://\#(Self.bucket)/260510/\#(id)","Section":"","speciality":"","transfer":"vaded"}
            """#,
            more: [.contentType: "application/json; charset=UTF-8"]
        )
    }

    func stop(_ id: String, _ files: [String]) async throws -> Android.Acknowledgement {
        let times = files.enumerated().map { position, name in
            #"{"\#(name)":{"st":\#(Double(position) * 9.5),"et":\#(Double(position) * 9.5 + 10)}}"#
        }
        return try await list("stop", id, files, times).decoded(status: 200)
    }

    func commit(_ id: String, _ files: [String]) async throws -> Android.Acknowledgement {
        try await list("commit", id, files, []).decoded(status: 200)
    }

    func list(_ verb: String, _ id: String, _ files: [String], _ times: [String]) async throws -> TestAnswer {
        let names = files.map { "\"\($0)\"" }.joined(separator: ",")
        return try await session.send(
            .post, "/voice/api/v2/transaction/\(verb)/\(id)",
            #"{"audio_files":[\#(names)],"chunk_info":[\#(times.joined(separator: ","))]}"#,
            more: [.contentType: "application/json; charset=UTF-8"]
        )
    }

    // MARK: Uploads

    func credentials() async throws -> Android.Credentials {
        try await session.send(.get, "/credentials", host: "cog.eka.care").decoded(status: 200)
    }

    /// The bucket's region, asked for at the host of another one.
    func region(with keys: Android.Credentials) async throws -> String? {
        var signer = signer(keys, host: "\(Self.bucket).s3-us-west-1.amazonaws.com")
        signer.region = "us-west-1"
        let headers = signer.sign("HEAD", "/", at: session.clock.now, payload: RequestSigner.sha256(Data()))
        let answer = try await session.server.send(.head, "/", host: signer.host, headers: headers)
        try #require(answer.status == 200)
        return answer.headers[.amzBucketRegion]
    }

    /// One PUT, its body in signed chunks, with the file's MD5 and no `Content-Encoding`.
    func upload(
        _ name: String, of id: String, with keys: Android.Credentials, bid: String = "b-demo",
        audio: Data? = nil
    ) async throws -> TestAnswer {
        try await put(
            "/260510/\(id)/\(name)", audio ?? TestAudio.chunk(name), keys,
            [("x-amz-meta-bid", bid), ("x-amz-meta-txnid", id)],
            type: name.contains(".wav") ? "audio/wav" : "audio/mpeg"
        )
    }

    /// A file of more than 5 MiB, in parts.
    func uploadInParts(
        _ name: String, of id: String, with keys: Android.Credentials, audio: Data
    ) async throws -> TestAnswer {
        let path = "/260510/\(id)/\(name)"
        let created = try await post(path, "uploads", keys, [("x-amz-meta-bid", "b-demo"), ("x-amz-meta-txnid", id)])
        try #require(created.status == 200, "\(created.text)")
        let uploadID = try #require(created.xml("UploadId"))
        var parts = ""
        for (index, start) in stride(from: 0, to: audio.count, by: Self.partSize).enumerated() {
            let part = Data(audio[start..<min(start + Self.partSize, audio.count)])
            let query = "partNumber=\(index + 1)&uploadId=\(uploadID)"
            let stored = try await put(path, query: query, part, keys, [], type: "application/octet-stream")
            let eTag = try #require(stored.headers[.eTag], "\(stored.text)")
            parts += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(eTag)</ETag></Part>"
        }
        return try await post(
            path, "uploadId=\(uploadID)", keys, [],
            Data("<CompleteMultipartUpload>\(parts)</CompleteMultipartUpload>".utf8)
        )
    }

    private func put(
        _ path: String, query: String = "", _ body: Data, _ keys: Android.Credentials, _ metadata: [(String, String)],
        type: String
    ) async throws -> TestAnswer {
        let signer = signer(keys)
        let md5 = Data(Insecure.MD5.hash(data: body)).base64EncodedString()
        let signed = signer.signChunks(
            "PUT", path, query: query, at: session.clock.now, body, extra: metadata + [("content-md5", md5)]
        )
        return try await session.server.send(
            .put, query.isEmpty ? path : "\(path)?\(query)", host: signer.host,
            headers: signed.headers + HTTPFields([("Content-Type", type), ("User-Agent", "aws-sdk-android/2.22.1")]),
            body: signed.body
        )
    }

    /// What is stored, for the tests to look at.
    func download(_ name: String, of id: String, with keys: Android.Credentials) async throws -> TestAnswer {
        let signer = signer(keys)
        let path = "/260510/\(id)/\(name)"
        let headers = signer.sign("GET", path, at: session.clock.now)
        return try await session.server.send(.get, path, host: signer.host, headers: headers)
    }

    /// With the payload's own hash, as everything but the uploads themselves.
    private func post(
        _ path: String, _ query: String, _ keys: Android.Credentials, _ metadata: [(String, String)],
        _ body: Data = Data()
    ) async throws -> TestAnswer {
        let signer = signer(keys)
        let headers = signer.sign(
            "POST", path, query: query.contains("=") ? query : "\(query)=", at: session.clock.now,
            payload: RequestSigner.sha256(body), extra: metadata
        )
        return try await session.server.send(
            .post, "\(path)?\(query)", host: signer.host,
            headers: headers + HTTPFields([("Content-Type", "application/octet-stream")]), body: body
        )
    }

    private func signer(
        _ keys: Android.Credentials, host: String = "\(bucket).s3.ap-south-1.amazonaws.com"
    ) -> RequestSigner {
        RequestSigner(
            accessKeyID: keys.credentials.accessKeyID, secretKey: keys.credentials.secretKey,
            sessionToken: keys.credentials.sessionToken, host: host
        )
    }

    /// Init, uploads, stop and commit.
    func record(
        _ id: String, visit: String = "v-1", templates: [String] = ["clinical_notes_template"]
    ) async throws {
        try #require(try await start(id, visit: visit, templates: templates).isSuccess)
        let keys = try await credentials()
        for name in ["1.mp3", "2.mp3"] { try #require(try await upload(name, of: id, with: keys).status == 200) }
        _ = try await stop(id, ["1.mp3", "2.mp3"])
        _ = try await commit(id, ["1.mp3", "2.mp3"])
    }

    // MARK: Results

    enum Outcome {
        case ready(Android.Result)
        /// All items have failed, or there are none.
        case failed(Android.Result)
        case timedOut

        var ready: Android.Result? {
            if case .ready(let result) = self { result } else { nil }
        }

        var failed: Android.Result? {
            if case .failed(let result) = self { result } else { nil }
        }
    }

    /// Three polls for the transcript; only when it is there three more for the notes.
    func poll(_ id: String, _ query: String, holds: [Duration] = []) async throws -> Outcome {
        for attempt in 0..<Self.pollLimit {
            if attempt > 0 { session.clock.advance(by: Self.pollPause) }
            let hold = holds.indices.contains(attempt) ? holds[attempt] : nil
            let answer = try await session.clock.letting(pass: hold) { try await status(id, query) }
            guard answer.isSuccess, answer.status != 202 else { continue }
            let result: Android.Result = try answer.decoded()
            if result.statuses.contains(where: { ["success", "partial_success"].contains($0) }) {
                return .ready(result)
            }
            if result.statuses.allSatisfy({ $0 == "failure" }) { return .failed(result) }
        }
        return .timedOut
    }

    func status(_ id: String, _ query: String = "") async throws -> TestAnswer {
        try await session.send(.get, "/voice/api/v3/status/\(id)\(query)")
    }
}

extension TestAnswer {
    /// The text of the first XML element of that name.
    func xml(_ name: String) -> String? {
        guard let start = text.range(of: "<\(name)>"), let end = text.range(of: "</\(name)>") else { return nil }
        return String(text[start.upperBound..<end.lowerBound])
    }
}
