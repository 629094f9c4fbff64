import Alliance
import Basics
import Eka
import Foundation
import HTTPTypes
import ScribeRuntime
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

/// A server whose clients do what a test seeds, and what lint says of them.
struct LintBench: Sendable {
    static let bucket = TestScribeClient.bucket
    let client: TestScribeClient
    let anonymous: TestScribeClient
    let clock: ManualClock

    static func run(
        _ configure: (inout TestServer) -> Void = { _ in },
        _ test: @escaping @Sendable (LintBench) async throws -> Void
    ) async throws {
        var server = try TestServer()
        server.configuration.eka.longPoll = .zero
        server.configuration.alliance.longPoll = .zero
        server.configuration.jobs.objectWait = .zero
        configure(&server)
        let clock = server.manual
        try await server.run { anonymous in
            try await test(LintBench(client: anonymous.login(), anonymous: anonymous, clock: clock))
        }
    }

    struct Finding: Decodable {
        let rule: String
        let severity: String
        let row: String
        let message: String
        let transaction: String?
        let sdk: String?
        let requests: [Int]
    }

    struct Report: Decodable {
        let errors: Int
        let findings: [Finding]
    }

    func report(_ query: String = "") async throws -> Report {
        let answer = try await client.get("/__admin/lint\(query)")
        try #require(answer.status == 200, "\(answer.text)")
        return try JSONDecoder().decode(Report.self, from: answer.body)
    }

    // MARK: A recording

    /// Uploads a file whose signature is also over the body.
    /// - Parameter tone: makes the bytes differ from those of other files.
    @discardableResult func put(
        _ name: String, seconds: Double = 10, tone: Int? = nil, type: String = "audio/wav", isSilent: Bool = false,
        of id: String = "t-1"
    ) async throws -> TestAnswer {
        let number = Int(name.prefix { $0.isNumber }) ?? 0
        let audio = TestAudio.wav(seconds: seconds, tone: tone ?? number + 1, isSilent: isSilent)
        let path = "/\(Self.bucket)/260510/\(id)/\(name)"
        let headers = try await client.signer().sign(
            "PUT", path, at: clock.now, payload: RequestSigner.sha256(audio), extra: [("content-type", type)])
        return try await client.send(.put, path, headers: headers, body: audio)
    }

    /// - Parameter times: start and end of each file; nil for those of a shipped recorder.
    @discardableResult func stop(
        _ files: [String], times: [(Double, Double)]? = nil, verb: String = "stop", of id: String = "t-1"
    ) async throws -> TestAnswer {
        let times = times ?? files.indices.map { (Double($0) * 9.5, Double($0) * 9.5 + 10) }
        let info =
            verb == "commit"
            ? "" : zip(files, times).map { #"{"\#($0)":{"st":\#($1.0),"et":\#($1.1)}}"# }.joined(separator: ",")
        let names = files.map { #""\#($0)""# }.joined(separator: ",")
        return try await client.post(
            "/voice/api/v2/transaction/\(verb)/\(id)", #"{"audio_files":[\#(names)],"chunk_info":[\#(info)]}"#)
    }

    @discardableResult func commit(_ files: [String], of id: String = "t-1") async throws -> TestAnswer {
        try await stop(files, verb: "commit", of: id)
    }

    /// Waits until the transaction has ended.
    func end(_ id: String = "t-1") async throws {
        try #require(try await client.post("/__admin/transactions/\(id)/wait", "{}").status == 200)
    }

    /// A recording as a shipped recorder makes it, until its commit.
    func record(
        _ files: [String] = ["1.wav", "2.wav"], listed: [String]? = nil, times: [(Double, Double)]? = nil
    ) async throws {
        try #require(try await client.initialise("t-1").status == 201)
        for file in files { try #require(try await put(file).status == 200) }
        try #require(try await stop(listed ?? files, times: times).status == 200)
        try #require(try await commit(listed ?? files).status == 200)
    }

    /// A recording whose results were read.
    func consultation() async throws {
        try await record()
        try await end()
        try #require(try await client.status("t-1").status == 200)
    }

    /// Makes the next request of an operation fail.
    func failNext(_ operation: String, _ status: Int = 503) async throws {
        let rule = #"{"operation":"\#(operation)","status":\#(status)}"#
        try #require(try await client.post("/__admin/faults/next", rule).status == 201)
    }
}
