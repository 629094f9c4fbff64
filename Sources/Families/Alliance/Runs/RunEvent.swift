import NIOCore
import ScribeDomain
import ScribeHTTP

/// What a run tells, in AG-UI's words (reference-backend.md section 11).
enum RunEvent: Encodable {
    case started(thread: String, run: String)
    case snapshot(RunState)
    /// One more section at the end of the state's.
    case section(RunSection)
    case finished(thread: String, run: String)
    case failed(message: String, code: Failure)

    enum Failure: String, Encodable {
        case endpoint = "endpoint_exception"
        case pausedRunExpired = "paused_run_expired"
    }

    private enum CodingKeys: String, CodingKey {
        case type, snapshot, delta, message, code
        case thread = "threadId"
        case run = "runId"
    }

    private struct Operation: Encodable {
        let op = "add"
        let path = "/sections/-"
        let value: RunSection
    }

    func encode(to encoder: any Encoder) throws {
        var event = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .started(let thread, let run):
            try event.encode("RUN_STARTED", forKey: .type)
            try event.encode(thread, forKey: .thread)
            try event.encode(run, forKey: .run)
        case .snapshot(let state):
            try event.encode("STATE_SNAPSHOT", forKey: .type)
            try event.encode(state, forKey: .snapshot)
        case .section(let section):
            try event.encode("STATE_DELTA", forKey: .type)
            try event.encode([Operation(value: section)], forKey: .delta)
        case .finished(let thread, let run):
            try event.encode("RUN_FINISHED", forKey: .type)
            try event.encode(thread, forKey: .thread)
            try event.encode(run, forKey: .run)
        case .failed(let message, let code):
            try event.encode("RUN_ERROR", forKey: .type)
            try event.encode(message, forKey: .message)
            try event.encode(code, forKey: .code)
        }
    }

    /// As a server-sent event.
    var frame: ByteBuffer {
        get throws {
            var frame = ByteBuffer(string: "data: ")
            var body = try ByteBuffer(encoding: self)
            frame.writeBuffer(&body)
            frame.writeString("\n\n")
            return frame
        }
    }
}

/// What has been written so far.
struct RunState: Encodable {
    let template: TemplateID
    let session: TransactionID
    let document: DocumentID
    var transcript = ""
    var sections: [RunSection] = []

    private enum CodingKeys: String, CodingKey {
        case transcript, sections
        case template = "template_id"
        case session = "txn_id"
        case document = "document_id"
        case omitted = "omitted_sections"
        case pendingCall = "pending_tool_call_id"
    }

    func encode(to encoder: any Encoder) throws {
        var state = encoder.container(keyedBy: CodingKeys.self)
        try state.encode(template, forKey: .template)
        try state.encode(session, forKey: .session)
        try state.encode(document, forKey: .document)
        try state.encode(transcript, forKey: .transcript)
        try state.encode(sections, forKey: .sections)
        try state.encode([String](), forKey: .omitted)
        try state.encodeNil(forKey: .pendingCall)
    }
}
