import Basics
import Engines
import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import Alliance
@testable import ScribeHTTP
@testable import ScribeServer

struct RunTests {
    private static let path = "/voice/v1/scribe/agent/runs"
    /// What the vendor's web app sends.
    private static func input(_ session: String, run: String = "run-1") -> String {
        #"{"thread_id":"\#(session)","run_id":"\#(run)","state":{},"messages":[],"tools":[],"context":[],"forwarded_props":{}}"#
    }

    /// The frames, as the web app takes them apart.
    private func events(_ answer: TestAnswer) throws -> [JSONValue] {
        try answer.text.components(separatedBy: "\n\n").filter { $0.hasPrefix("data: ") }.map {
            try JSONDocument(Data($0.dropFirst(6).utf8)).value
        }
    }

    private func finished(_ client: TestScribeClient) async throws -> String {
        let session = try await client.session(#","templates":["soap"]"#)
        _ = try await client.sendAudio("0.wav", to: session, TestAudio.wav(seconds: 20))
        _ = try await client.end(session)
        #expect(try await client.read(session).status == 200)
        return session
    }

    @Test(
        "an AG-UI run streams a note section by section, and the protocol session keeps the note",
        arguments: Transport.allCases)
    func run(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            let session = try await finished(client)
            let answer = try await client.post("\(Self.path)/clinical_notes_template", Self.input(session))
            #expect(answer.status == 200)
            #expect(answer.headers[.contentType] == "text/event-stream; charset=utf-8")
            let events = try events(answer)
            #expect(events.first?["type"] == .string("RUN_STARTED"))
            #expect(events.first?["threadId"] == .string(session))
            #expect(events.last?["type"] == .string("RUN_FINISHED"))
            #expect(events.last?["runId"] == .string("run-1"))
            #expect(events.dropFirst().first?["snapshot"]?["sections"] == .array([]))

            let added = events.compactMap { event -> JSONValue? in
                guard case .array(let operations)? = event["delta"] else { return nil }
                #expect(operations.first?["op"] == .string("add"))
                #expect(operations.first?["path"] == .string("/sections/-"))
                return operations.first?["value"]
            }
            let state = try #require(events.dropLast().last?["snapshot"])
            #expect(!added.isEmpty)
            #expect(state["sections"] == .array(added), "the deltas make the last snapshot")
            #expect(state["transcript"]?.stringValue?.isEmpty == false)
            #expect(added.allSatisfy { ["LIST", "NARRATIVE"].contains($0["kind"]?.stringValue) })
            #expect(added.allSatisfy { $0["status"]?["state"] == .string("ready") })

            let document = try #require(state["document_id"]?.stringValue)
            let read = try await client.read(session, "?document_id=\(document)")
            #expect(read.status == 200)
            let replayed = try self.events(
                await client.post(
                    "\(Self.path)/clinical_notes_template?document_id=\(document)",
                    #"{"threadId":"\#(session)","runId":"again"}"#))
            #expect(replayed.map { $0["type"]?.stringValue } == ["RUN_STARTED", "STATE_SNAPSHOT", "RUN_FINISHED"])
            #expect(replayed[1]["snapshot"] == state)
        }
    }

    @Test(
        "process-template answers with an AG-UI event stream only if the request names that protocol", .covers("M-53"))
    func processTemplate() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let session = try await finished(client)
            for path in ["process/template/soap", "process/template"] {
                let told = try await client.send(
                    .post, "/voice/v1/sessions/\(session)/\(path)", headers: [.protocolName: "ag-ui"])
                #expect(told.status == 200)
                #expect(try events(told).last?["type"] == .string("RUN_FINISHED"))
                let plain = try await client.send(
                    .post, "/voice/v1/sessions/\(session)/\(path)", headers: [.protocolName: "agent"])
                #expect(plain.status == 202)
            }
        }
    }

    @Test("an AG-UI run of an unknown template or session, or before any result, is refused before it starts")
    func refusals() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let session = try await finished(client)
            let open = try await client.session()
            func start(_ template: String, _ body: String) async throws -> Int {
                try await client.post("\(Self.path)/\(template)", body).status
            }
            #expect(try await start("nothing", Self.input(session)) == 404)
            #expect(try await start("soap", Self.input("nobody-knows-it")) == 404)
            #expect(try await start("soap", Self.input("a\\u0000b")) == 404)
            #expect(try await start("soap", #"{"thread_id":"\#(session)"}"#) == 422)
            #expect(try await start("soap", #"{"thread_id":7,"run_id":"r"}"#) == 422)
            #expect(try await start("soap", Self.input(open)) == 400, "nothing was said yet")
            #expect(try await start("soap?document_id=none", Self.input(session)) == 404)
            let other = try await anonymous.login("dev-client-2", "dev-secret-2")
            #expect(try await other.post("\(Self.path)/soap", Self.input(session)).status == 404)

            let document = try await client.send(.post, "/voice/v1/sessions/\(session)/process/template/soap")[
                "document_id"]
            _ = try await client.read(session)
            let edited = try await client.post(
                "/voice/api/v1/documents",
                #"{"session_id":"\#(session)","document_id":"\#(document)","markdown_data":"mine"}"#)
            #expect(edited.status == 200)
            #expect(try await start("soap?document_id=\(document)", Self.input(session)) == 400)
        }
    }

    @Test("an AG-UI run of a note that cannot be written ends in RUN_ERROR, and resuming a run is refused")
    func failures() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let session = try await client.session(#","templates":["soap"]"#)
            _ = try await client.sendAudio("0.wav", to: session, Data("no audio at all".utf8))
            _ = try await client.end(session)
            _ = try await client.read(session)
            let failed = try events(await client.post("\(Self.path)/soap", Self.input(session)))
            #expect(failed.last?["type"] == .string("RUN_ERROR"))
            #expect(failed.last?["code"] == .string("endpoint_exception"))
            #expect(failed.last?["message"]?.stringValue?.isEmpty == false)

            let resumed = try await client.post("\(Self.path)/soap/resume", Self.input(session))
            #expect(resumed.status == 200)
            #expect(try events(resumed).first?["code"] == .string("paused_run_expired"))
            #expect(try await client.post("\(Self.path)/soap/resume", Self.input("no-such-one")).status == 404)
        }
    }

    @Test("a run's sections are read from every note format, with keys that fit in a path")
    func sections() throws {
        func sections(_ format: Template.Format, _ value: String) -> [RunSection] {
            RunSection.sections(
                of: ResultDocument(
                    id: DocumentID("d"), kind: .custom, templateID: TemplateID("t"), name: "Note", format: format,
                    status: .success, value: value))
        }
        let markdown = sections(
            .markdown, "# Note\n\n## Chief Complaint\n\n- fever\n- cough\n\n## Plan\n\nRest.\n\n## Plan\n\nMore.\n")
        #expect(markdown.map(\.key) == ["chief_complaint", "plan", "plan_2"])
        #expect(markdown.map(\.payload) == [.list(["fever", "cough"]), .narrative("Rest."), .narrative("More.")])
        #expect(sections(.markdown, "only words").map(\.title) == ["Note"])
        #expect(sections(.markdown, "").isEmpty)
        #expect(sections(.json, #"[{"title":"1. Плана","value":"- x"}]"#).map(\.key) == ["section_1"])
        #expect(sections(.json, "{").map(\.payload) == [.narrative("{")])
        #expect(
            sections(.ekaEMR, #"{"prescription":{"medications":[{"dose":"500 mg","name":"paracetamol"}]}}"#)
                .map(\.payload) == [.list(["paracetamol, 500 mg"])])
        #expect(sections(.transcript, "Hello.\nHello.").map(\.payload) == [.narrative("Hello.\nHello.")])
    }
}
