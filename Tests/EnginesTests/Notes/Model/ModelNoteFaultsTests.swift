import Basics
import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Language models whose answers do not fit, and services that fail.
struct ModelNoteFaultsTests {
    private let notes = ModelNotes()

    @Test("a long transcript is written in parts, and equal statements of two parts stand once")
    func parts() async throws {
        let api = try await ChatAPI { request, number in
            ChatAPI.note(request, ["symptoms": ["Cough"], "medications": [number == 0 ? "Ramipril" : "Aspirin"]])
        }
        let transcript = (0..<40).map { "Patient: line \($0), cough, ramipril and aspirin." }.joined(separator: "\n")
        let note = try await notes.writer(api, longest: 1000).write(notes.request(from: transcript))
        #expect(api.requests.count == 2)
        #expect(api.requests.map(\.transcript).joined(separator: "\n") == transcript)
        #expect(api.requests[1].messages[0].contains("part 2 of 2"))
        #expect(note.value.contains("Cough.\n") && !note.value.contains("Cough. Cough."))
        #expect(note.value.contains("- Ramipril\n- Aspirin"))
    }

    @Test(
        "an answer that was cut at its limit, and a question that is too long, are divided in two",
        arguments: [true, false])
    func halves(isAnswer: Bool) async throws {
        let api = try await ChatAPI { request, _ in
            if request.transcript.count < 900 { return ChatAPI.note(request, ["symptoms": ["Cough"]]) }
            return isAnswer
                ? ChatAPI.message(#"{"symptoms": ["Cou"#, end: "length")
                : ChatAPI.error(400, "maximum context length exceeded", code: "context_length_exceeded")
        }
        let transcript = (0..<60).map { "Patient: line \($0), a cough." }.joined(separator: "\n")
        let note = try await notes.writer(api).write(notes.request(from: transcript))
        #expect(note.value.contains("Cough."))
        let whole = api.requests.filter { $0.transcript.count < 900 }.map(\.transcript)
        #expect(whole.joined(separator: "\n") == transcript)
    }

    @Test("a model that never ends an answer is given up after some requests")
    func endless() async throws {
        let api = try await ChatAPI { _, _ in ChatAPI.message("{", end: "length") }
        let transcript = String(repeating: "Patient: a cough.\n", count: 4000)
        await #expect { try await notes.writer(api).write(notes.request(from: transcript)) } throws: {
            ($0 as? EngineFailure)?.origin == .input
        }
        #expect(api.requests.count <= 60)
    }

    // MARK: Faults

    private static func isRetryable(_ fault: SpeechFault) -> Bool? {
        switch fault {
        case .error, .busy, .busyWithoutEnd, .close, .cut, .garbage, .page: true
        case .wrongKey, .unusable, .long, .packed, .redirect: false
        case .silence: nil
        }
    }

    @Test(
        "each fault of the service is a failure that says whether another attempt may help",
        arguments: SpeechFault.allCases)
    func faults(fault: SpeechFault) async throws {
        guard let isRetryable = Self.isRetryable(fault) else { return }
        try await withinTheTimeOfATest {
            let api = try await ChatAPI { _, _ in fault.answer }
            await #expect { try await notes.writer(api).write(notes.request()) } throws: { error in
                let failure = error as? EngineFailure
                return failure?.code == .noteFailed && failure?.isRetryable == isRetryable
            }
        }
    }

    @Test("a refusal is a failure of this transcript, and its words are not logged")
    func refusal() async throws {
        let refused =
            #"{"choices": [{"message": {"content": null, "refusal": "Asha has a cough"}, "finish_reason": "stop"}]}"#
        let answers = [
            HTTPService.Answer.text(refused), ChatAPI.message("", end: "content_filter"),
            ChatAPI.error(403, "Asha has a cough", code: "policy_violation"),
        ]
        for answer in answers {
            let api = try await ChatAPI { _, _ in answer }
            await #expect { try await notes.writer(api).write(notes.request()) } throws: { error in
                let failure = error as? EngineFailure
                return failure?.isRetryable == false && failure?.logged.contains("Asha") == false
            }
        }
    }

    @Test("a note is given up when the server stops")
    func cancellation() async throws {
        try await withinTheTimeOfATest {
            let api = try await ChatAPI { _, _ in .silence }
            let writer = try notes.writer(api)
            let note = Task { try await writer.write(notes.request()) }
            try await api.http.record.waitFor(1)
            note.cancel()
            await #expect(throws: CancellationError.self) { try await note.value }
        }
    }
}
