import Foundation
import HTTPTypes
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Console

/// State of a recording: the same one in the list, on its page and in its timeline.
struct ConsoleStatesTests {
    /// Requires that list and page show a state, and that the timeline has it in a tone.
    /// - Parameter tone: Class of the line in the timeline; nil for a state without a line.
    private static func expect(
        _ word: String, _ sentence: String = "", tone: String? = nil, of id: String, business: String = "b-demo",
        _ visitor: ConsoleVisitor, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let list = try await visitor.page("", search: id).text
        let page = try await visitor.page("/consultations/\(business)/\(id)").text
        for text in [list, page] {
            let hasWord = text.contains("<span>\(word)</span>")
            let hasSentence = sentence.isEmpty || text.contains(sentence)
            #expect(hasWord, "\(id)", sourceLocation: sourceLocation)
            #expect(hasSentence, "\(id): \(sentence)", sourceLocation: sourceLocation)
        }
        guard let tone else { return }
        let hasLine = page.contains("<i class=\"\(tone)\"></i><div><b>\(word)</b>")
        #expect(hasLine, "\(id)", sourceLocation: sourceLocation)
    }

    @Test("list, page and timeline agree about each way that a fixture ends a recording")
    func fixtures() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            func record(_ fixture: String) async throws {
                let visit = #","patient_details":{"username":"A","visit_id":"fixture:\#(fixture)"}"#
                try await client.consultation(fixture, visit, at: server.manual.now)
                _ = try await client.post("/__admin/transactions/\(fixture)/wait", "{}")
            }
            for name in ["follow-up", "no-speech", "partial", "undecodable", "no-speach"] { try await record(name) }
            let visitor = try await ConsoleVisitor(anonymous)
            try await Self.expect("Done", tone: "o", of: "follow-up", visitor)
            try await Self.expect("Failed as asked", tone: "a", of: "no-speech", visitor)
            try await Self.expect("Partial as asked", tone: "a", of: "partial", visitor)
            try await Self.expect("Failed as asked", tone: "a", of: "undecodable", visitor)
            try await Self.expect("Failed", "There is no fixture “no-speach”.", tone: "x", of: "no-speach", visitor)
            #expect(try await visitor.page("", search: "no-speach").text.contains("commit-refused, follow-up, init-"))
            func listed(_ query: String, _ search: String = "") async throws -> [Substring] {
                let text = try await visitor.page(query, search: search).text
                return text.matches(of: /consultations\/b-demo\/([a-z-]+)"/).map(\.1).removingDuplicates().sorted()
            }
            #expect(try await listed("?state=done") == ["follow-up", "partial"])
            #expect(try await listed("?state=failed") == ["no-speach", "no-speech", "undecodable"])
            #expect(try await listed("", "partial%20as%20asked") == ["partial"])
            #expect(try await listed("", "failed%20as%20asked") == ["no-speech", "undecodable"])
            #expect(try await listed("", "Failed") == ["no-speach", "no-speech", "undecodable"])
            #expect(try await listed("?state=open", "failed").isEmpty)
            // Nothing more than the stop comes of it.
            let visit = #","patient_details":{"visit_id":"fixture:commit-refused"}"#
            #expect(try await client.initialise("refused", visit).status == 201)
            #expect(try await client.list("stop", "refused", []).status == 200)
            #expect(try await client.list("commit", "refused", []).status == 500)
            try await Self.expect("Refused as asked", of: "refused", visitor)
            #expect(try await !visitor.page("", search: "refused").text.contains("No commit has come"))
        }
    }

    @Test("list, page and timeline agree about faults, an operator's end, and what went wrong by itself")
    func causes() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let now = server.manual.now
            _ = try await client.initialise("by-hand")
            let failed = try await client.post("/__admin/transactions/by-hand/fail", #"{"code":"no_speech"}"#)
            #expect(failed.status == 200, "\(failed.text)")
            let rules = [
                ("by-rule", #"{"operation":"transcription","fail":"transcription_failed"}"#),
                ("no-note", #"{"operation":"note","fail":"note_failed"}"#),
                ("silenced", #"{"operation":"transcription","empty":true}"#),
            ]
            for (id, rule) in rules {
                #expect(try await client.post("/__admin/faults", rule).status == 201)
                try await client.consultation(id, at: now)
                _ = try await client.post("/__admin/transactions/\(id)/wait", "{}")
                _ = try await client.send(.delete, "/__admin/faults")
            }
            try await client.consultation("broken", audio: Data("no audio at all".utf8), at: now)
            _ = try await client.post("/__admin/transactions/broken/wait", "{}")
            _ = try await client.initialise("cancelled")
            _ = try await client.post("/__admin/transactions/cancelled/cancel", "{}")
            let visitor = try await ConsoleVisitor(anonymous)
            try await Self.expect("Failed as asked", tone: "a", of: "by-hand", visitor)
            #expect(try await visitor.page("", search: "by-hand").text.contains("no_speech, by an operator"))
            #expect(try await !visitor.page("/consultations/b-demo/by-hand").text.contains("The recogniser failed"))
            try await Self.expect("Failed as asked", tone: "a", of: "by-rule", visitor)
            try await Self.expect("Partial as asked", tone: "a", of: "no-note", visitor)
            try await Self.expect("Failed as asked", tone: "a", of: "silenced", visitor)
            try await Self.expect("Failed", "The audio could not be decoded.", tone: "x", of: "broken", visitor)
            try await Self.expect("Cancelled", tone: "", of: "cancelled", visitor)
        }
    }

    @Test("a partial result is amber in the timeline, with the reason in list and page")
    func partial() async throws {
        var server = try TestServer()
        server.configuration.jobs.objectWait = .zero
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            try await client.record("i-1", "Asha", at: manual.now, file: "1.m4a")
            #expect(try await client.list("commit", "i-1", ["1.m4a", "2.m4a"]).status == 200)
            _ = try await client.post("/__admin/transactions/i-1/wait", "{}")
            let visitor = try await ConsoleVisitor(anonymous)
            try await Self.expect(
                "Partial", "The commit named a file that never came.", tone: "w", of: "i-1", visitor)
            let page = try await visitor.page("/consultations/b-demo/i-1").text
            #expect(page.contains("<i class=\"w\"></i><div><b>Transcript</b>"))
        }
    }

    @Test("a short ambient session is skipped, and one that was never ended expires")
    func ambient() async throws {
        let server = try TestServer()
        try await server.run { anonymous in
            let client = try await anonymous.clinician()
            let short = try await client.ambientSession()
            #expect(try await client.record(short).status == 200)
            #expect(try await client.finishAmbient(short) == "skipped")
            let open = try await client.ambientSession()
            let visitor = try await ConsoleVisitor(anonymous)
            let list = try await visitor.page("").text
            let link = try #require(list.firstMatch(of: /consultations\/([^\/"]+)\//)).1
            try await Self.expect(
                "Skipped", "The session has less than 1 min of audio", tone: "w", of: short, business: String(link),
                visitor)
            #expect(!list.contains("No audio arrived"))
            server.manual.advance(by: .seconds(8 * 86_400))
            try await Self.expect(
                "Expired", "The session expired before it was ended.", of: open, business: String(link), visitor)
        }
    }
}
