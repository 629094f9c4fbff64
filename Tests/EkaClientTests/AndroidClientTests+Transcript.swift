import Engines
import ServerTestSupport
import TestSupport
import Testing

extension AndroidClientTests {
    /// Writes nothing until it is let.
    private struct HeldNoteWriter: NoteWriter {
        let isInstant = false
        let name = "held"
        let gate = AsyncStream.makeStream(of: Void.self)

        func write(_ request: NoteRequest) async throws -> WrittenNote {
            for await _ in gate.stream {}
            return WrittenNote(value: "# Note")
        }
    }

    @Test(
        "the Android SDK's poll for the transcript is answered while the notes are still being written", .covers("C-34")
    )
    func transcriptFirst() async throws {
        var server = try TestServer()
        let writer = HeldNoteWriter()
        server.noteWriter = writer
        let manual = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.login()
            try await client.consultation("a-1", at: manual.now)
            let transcript = try await client.status("a-1", "?template_id=transcript")
            #expect(transcript.status == 200)
            #expect(try transcript["data.template_results.transcript.0.status"] == "success")
            let all = try await client.status("a-1", "?dlp=true")
            #expect(try all["status"] == "in-progress")
            #expect(try all["data.output.0.status"] == "in-progress")
            writer.gate.continuation.finish()
            let finished = try await client.status("a-1")
            #expect(finished.status == 200)
            #expect(try finished["data.output.0.status"] == "success")
        }
    }
}
