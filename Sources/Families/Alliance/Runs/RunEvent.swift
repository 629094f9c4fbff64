import Basics
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Events of a run, encoded as AG-UI messages (reference-backend.md section 11).
enum RunEvent {
    case started(thread: String, run: String)
    case snapshot(RunState)
    /// Appends one section to the sections of the client's state.
    case section(RunSection)
    case finished(thread: String, run: String)
    case failed(message: String, code: Failure)

    enum Failure: String {
        case endpoint = "endpoint_exception"
        case pausedRunExpired = "paused_run_expired"
    }

    private var json: JSON {
        switch self {
        case .started(let thread, let run):
            ["type": "RUN_STARTED", "threadId": .string(thread), "runId": .string(run)]
        case .snapshot(let state): ["type": "STATE_SNAPSHOT", "snapshot": state.json]
        case .section(let section):
            ["type": "STATE_DELTA", "delta": [["op": "add", "path": "/sections/-", "value": section.json]]]
        case .finished(let thread, let run):
            ["type": "RUN_FINISHED", "threadId": .string(thread), "runId": .string(run)]
        case .failed(let message, let code):
            ["type": "RUN_ERROR", "message": .string(message), "code": .string(code.rawValue)]
        }
    }

    /// Encodes the event as a server-sent event, off the event loop: a snapshot holds the whole transcript.
    func frame() async -> ByteBuffer {
        await EventLoopOffload.run(bytes: .max) {
            var frame = ByteBuffer(string: "data: ")
            frame.writeImmutableBuffer(ByteBuffer(json))
            frame.writeString("\n\n")
            return frame
        }
    }
}

/// Snapshot of a run: the transcript and the sections written so far.
struct RunState {
    let template: TemplateID
    let session: TransactionID
    let document: DocumentID
    var transcript = ""
    var sections: [RunSection] = []

    fileprivate var json: JSON {
        [
            "template_id": .string(template.rawValue), "txn_id": .string(session.rawValue),
            "document_id": .string(document.rawValue), "transcript": .string(transcript),
            "sections": .array(sections, \.json), "omitted_sections": [], "pending_tool_call_id": .null,
        ]
    }
}
