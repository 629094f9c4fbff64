import Basics
import HTTPTypes
import Hummingbird
import Journal
import Logging
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import ScribeHTTP

@Suite("Answers are held against the contract")
struct AnswerContractTests {
    private func context() throws -> ScribeContext {
        let context = ScribeContext(source: .init(channel: EmbeddedChannel(), logger: Logger(label: "test")))
        context.contractOperation = try #require(Contract.documented?.operation("GET", "/voice/ping"))
        return context
    }

    private func text(_ response: Response) async throws -> String {
        let body = CollectedBody()
        try await response.body.write(body)
        return String(buffer: body.buffer)
    }

    @Test("an answer that does not fit is sent as it is, with the number of its findings")
    func findings() async throws {
        let context = try context()
        let answer = try await context.validated(.json(.ok, ["ping": 1]))
        #expect(answer.headers[.scribeFindings] == "1")
        #expect(try await text(answer) == #"{"ping":1}"#)
        let fitting = try await self.context().validated(.json(.ok, ["ping": "pong"]))
        #expect(fitting.headers[.scribeFindings] == nil)
        #expect(try await text(fitting) == #"{"ping":"pong"}"#)
    }

    @Test("an answer of a status or type that the contract does not describe, or of more than 128 KiB, is not read")
    func unread() async throws {
        for response in [
            Response.json(.init(code: 418), ["ping": 1]),
            Response(
                status: .ok, headers: [.contentType: "text/plain"], body: .init(byteBuffer: ByteBuffer(string: "{}"))),
            Response.json(.ok, ["ping": 1, "more": .string(String(repeating: "x", count: 128 << 10))]),
        ] {
            #expect(try await context().validated(response).headers[.scribeFindings] == nil)
        }
    }

    @Test("an answer that is given many times keeps its verdict")
    func kept() async throws {
        let kept = RepeatedAnswer(.ok, json: ByteBuffer(string: #"{"ping":1}"#))
        for _ in 0..<2 {
            let context = try context()
            context.note(kept)
            #expect(try await context.validated(kept.response).headers[.scribeFindings] == "1")
        }
        #expect(kept.findings.withLock { $0 } == [Remark("answer.ping", "must be string")])
        // The verdict is asked for, and the body is not read again.
        kept.findings.withLock { $0 = [] }
        let context = try context()
        context.note(kept)
        #expect(try await context.validated(kept.response).headers[.scribeFindings] == nil)
    }
}
