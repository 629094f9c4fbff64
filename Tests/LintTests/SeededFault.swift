import Foundation
import HTTPTypes
import ScribeHTTP
import ServerTestSupport
import TestSupport
import Testing

@testable import Lint

/// A mistake of a client, and the rule that must find it.
struct SeededFault: Sendable, CustomTestStringConvertible {
    let rule: LintRule
    var severity: LintSeverity
    let seed: @Sendable (LintBench) async throws -> Void

    init(
        _ rule: LintRule, as severity: LintSeverity? = nil, _ seed: @escaping @Sendable (LintBench) async throws -> Void
    ) {
        self.rule = rule
        self.severity = severity ?? rule.severity
        self.seed = seed
    }

    var testDescription: String { "\(rule.id), \(severity.name)" }

    static let all = logins + uploads + chunks + steps + polls + repetitions + results

    private static let logins = [
        SeededFault(ContractRules.outside) { bench in
            let answer = try await bench.client.post(
                "/voice/api/v2/transaction/init/t-1", #"{"transfer":"vaded","s3_url":"nowhere"}"#)
            try #require(answer.status == 201)
        },
        SeededFault(LoginRules.inURL) { _ = try await $0.client.get("/voice/api/v2/config?access_token=eyJh.eyJi.c") },
        SeededFault(LoginRules.late) { bench in
            let tokens = try await login(bench)
            bench.clock.advance(by: .seconds(200_000))
            let late = try await bench.anonymous.get(
                "/voice/api/v2/config", headers: [.authorization: "Bearer \(try tokens["access_token"])"])
            try #require(late.status == 401)
            try await renew(bench, tokens)
        },
        SeededFault(LoginRules.often) { bench in
            var tokens = try await login(bench)
            for _ in 0..<3 { tokens = try await renew(bench, tokens) }
        },
        SeededFault(LoginRules.often, as: .note) { bench in
            var tokens = try await login(bench)
            for _ in 0..<3 { tokens = try await renew(bench, tokens, as: "okhttp/4.12.0") }
        },
    ]

    private static func login(_ bench: LintBench) async throws -> TestAnswer {
        try await bench.anonymous.post(
            "/connect-auth/v1/account/login", #"{"client_id":"dev-client","client_secret":"dev-secret"}"#)
    }

    @discardableResult private static func renew(
        _ bench: LintBench, _ tokens: TestAnswer, as agent: String? = nil
    ) async throws -> TestAnswer {
        var headers: HTTPFields = [:]
        headers[.userAgent] = agent
        let (access, refresh) = (try tokens["access_token"], try tokens["refresh_token"])
        let answer = try await bench.anonymous.post(
            "/connect-auth/v1/account/refresh-token",
            #"{"access_token":"\#(access)","refresh_token":"\#(refresh)"}"#, headers: headers)
        try #require(answer.status == 200, "\(answer.text)")
        return answer
    }

    private static let uploads = [
        SeededFault(UploadRules.region) { bench in
            var signer = try await bench.client.signer()
            signer.region = "us-east-1"
            let path = "/\(LintBench.bucket)/260510/t-1/1.wav"
            _ = try await bench.client.send(
                .put, path, headers: signer.sign("PUT", path, at: bench.clock.now), body: TestAudio.wav(seconds: 1))
        },
        SeededFault(UploadRules.thin) { bench in
            let path = "/\(LintBench.bucket)/260510/t-1/1.wav"
            var headers = try await bench.client.signer().sign("PUT", path, at: bench.clock.now)
            headers[.contentType] = "audio/wav"
            _ = try await bench.client.send(.put, path, headers: headers, body: TestAudio.wav(seconds: 1))
        },
        SeededFault(UploadRules.long) { try await presigned($0, expires: 7200) },
        SeededFault(UploadRules.checksum) { try await presigned($0, more: "&x-amz-checksum-crc32=AAAAAA%3D%3D") },
        SeededFault(UploadRules.unchecked) { bench in
            _ = try await bench.client.upload("1.wav", of: "t-1", at: bench.clock.now)
        },
    ]

    private static func presigned(_ bench: LintBench, expires: Int = 300, more: String = "") async throws {
        let path = try await bench.client.signer()
            .presign("PUT", "/\(LintBench.bucket)/260510/t-1/1.wav", at: bench.clock.now, expires: expires)
        _ = try await bench.client.send(.put, path + more, body: TestAudio.wav(seconds: 1))
    }

    private static let chunks = [
        SeededFault(ChunkRules.missing) { bench in
            try await bench.record(["1.wav"], listed: ["1.wav", "2.wav"])
            try await bench.end()
        },
        SeededFault(ChunkRules.gap) { try await $0.record(times: [(0, 10), (14, 24)]) },
        SeededFault(ChunkRules.overlap) { try await $0.record(times: [(0, 10), (7, 17)]) },
        SeededFault(ChunkRules.duplicate) { bench in
            _ = try await bench.client.initialise("t-1")
            for name in ["1.wav", "2.wav"] { try await bench.put(name, tone: 1) }
        },
        SeededFault(ChunkRules.duplicate) { try await $0.record(["1.wav"], listed: ["1.wav", "1.wav"]) },
        SeededFault(ChunkRules.order) { bench in
            try await bench.record(["2.wav", "1.wav"], times: [(9.5, 19.5), (0, 10)])
        },
        SeededFault(ChunkRules.fileExtension) { try await $0.record(["1.mp3"]) },
        SeededFault(ChunkRules.contentType) { bench in
            _ = try await bench.client.initialise("t-1")
            try await bench.put("1.wav", type: "audio/mpeg")
        },
        SeededFault(ChunkRules.contentType, as: .note) { bench in
            _ = try await bench.client.initialise("t-1", headers: [.flavour: "ScribeIOS"])
            try await bench.put("1.wav", type: "audio/mp4")
        },
        SeededFault(ChunkRules.silent) { bench in
            _ = try await bench.client.initialise("t-1")
            try await bench.put("1.wav", isSilent: true)
            try await bench.stop(["1.wav"])
            try await bench.commit(["1.wav"])
            try await bench.end()
        },
        SeededFault(ChunkRules.long) { bench in
            _ = try await bench.client.initialise("t-1")
            try await bench.put("1.wav", seconds: 30)
            try await bench.stop(["1.wav"], times: [(0, 30)])
            try await bench.commit(["1.wav"])
        },
        SeededFault(ChunkRules.short) { bench in
            _ = try await bench.client.initialise("t-1")
            for name in ["1.wav", "2.wav"] { try await bench.put(name, seconds: 2) }
            try await bench.stop(["1.wav", "2.wav"], times: [(0, 2), (2, 4)])
            try await bench.commit(["1.wav", "2.wav"])
        },
    ]

    private static let steps = [
        SeededFault(LifecycleRules.stopMissing) { bench in
            _ = try await bench.client.initialise("t-1")
            try await bench.put("1.wav")
            try await bench.commit(["1.wav"])
        },
        SeededFault(LifecycleRules.commitMissing) { bench in
            _ = try await bench.client.initialise("t-1")
            try await bench.put("1.wav")
            try await bench.stop(["1.wav"])
        },
        SeededFault(LifecycleRules.commitMissing, as: .warning) { bench in
            let id = try await bench.client.session()
            _ = try await bench.client.sendAudio("chunk_0.wav", to: id)
        },
        SeededFault(LifecycleRules.commitTwice) { bench in
            try await bench.record(listed: ["1.wav"])
            try await bench.commit(["1.wav", "2.wav"])
        },
        SeededFault(LifecycleRules.commitTwice, as: .note) { bench in
            try await bench.record()
            try await bench.commit(["1.wav", "2.wav"])
        },
        SeededFault(LifecycleRules.uploadLate) { bench in
            try await bench.record()
            try await bench.put("3.wav")
        },
        SeededFault(LifecycleRules.archiveLate) { bench in
            try await bench.consultation()
            try await bench.put("full_audio.m4a_")
        },
    ]

    private static let polls = [
        SeededFault(PollRules.fast) { bench in
            _ = try await bench.client.initialise("t-1")
            for _ in 0..<5 { _ = try await bench.client.status("t-1") }
        },
        SeededFault(PollRules.endless) { bench in
            _ = try await bench.client.initialise("t-1")
            for _ in 0..<15 {
                _ = try await bench.client.status("t-1")
                bench.clock.advance(by: .seconds(30))
            }
        },
        SeededFault(PollRules.afterResult) { bench in
            try await bench.record([], listed: [])
            try await bench.end()
            for _ in 0..<4 { #expect(try await bench.client.status("t-1").status == 500) }
            #expect(try await !bench.report().findings.map(\.rule).contains(RetryRules.immediate.id))
        },
        SeededFault(PollRules.afterResult) { bench in
            try await bench.consultation()
            for _ in 0..<4 { _ = try await bench.client.status("t-1") }
        },
    ]

    private static let repetitions = [
        SeededFault(RetryRules.immediate) { bench in
            _ = try await bench.client.initialise("t-1")
            try await bench.failNext("stopTransaction")
            for _ in 0..<2 { try await bench.stop([]) }
        },
        SeededFault(RetryRules.immediate, as: .note) { bench in
            _ = try await bench.client.initialise("t-1", headers: [.flavour: "io"])
            try await bench.failNext("stopTransaction")
            for _ in 0..<2 { try await bench.stop([]) }
        },
        SeededFault(RetryRules.create) { bench in
            try await bench.failNext("createSession")
            let path = TestScribeClient.sessions
            for _ in 0..<2 { _ = try await bench.client.post(path, #"{"upload_type":"chunked"}"#) }
        },
        SeededFault(RetryRules.refused) { bench in for _ in 0..<2 { try await bench.stop([]) } },
        SeededFault(RetryRules.refused) { bench in
            for _ in 0..<5 { _ = try await bench.client.get("/voice/api/v2/transaction/none") }
        },
    ]

    private static let results = [
        SeededFault(ResultRules.unread) { bench in
            try await bench.record()
            try await bench.end()
        },
        SeededFault(ResultRules.staleConfig) { bench in
            let path = "/voice/api/v2/config"
            _ = try await bench.client.get(path, headers: [.flavour: "web"])
            for flavour in ["android", "web"] {
                let change = try await bench.client.send(
                    .put, path, headers: [.flavour: flavour],
                    body: Data(#"{"request_type":"user","data":{"my_templates":["clinical_notes_template"]}}"#.utf8))
                try #require(change.status == 200, "\(change.text)")
            }
        },
        SeededFault(ResultRules.feedbackTwice) { bench in
            try await bench.consultation()
            for _ in 0..<2 { try await rate(bench, 4) }
        },
        SeededFault(ResultRules.feedbackRange) { bench in
            try await bench.consultation()
            try await rate(bench, 9)
        },
    ]

    private static func rate(_ bench: LintBench, _ rating: Int) async throws {
        _ = try await bench.client.post(
            "/voice/api/v1/transaction/t-1/feedback",
            #"{"entity":"content","ratingFeedback":{"min_rating":1,"max_rating":5,"rating":\#(rating)}}"#)
    }
}
