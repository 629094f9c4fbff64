import Basics
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Streams the writing of one document as server-sent events, until the document is final.
///
/// The events are AG-UI messages. AG-UI calls the writing of one document a run.
struct DocumentRun: Sendable {
    /// Time between two keep-alive comments.
    private static let pause: Duration = .seconds(10)
    /// Longest run: 60 pauses of 10 s, ten minutes. A run ends at once when its client disconnects.
    private static let maxPauses = 60

    let sessions: ProtocolSessions
    let key: Transaction.Key
    let template: TemplateID
    let document: DocumentID
    /// The run id; the client chooses it.
    let id: String
    /// Replays a finished document: only its final state is sent, without progress events.
    var isReplay = false

    func response(until clientDisconnect: OneShotSignal) -> Response {
        let body = ResponseBody { writer in
            try await sendEvents(until: clientDisconnect) { try await writer.write($0) }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: Self.headers, body: body)
    }

    static let headers: HTTPFields = [
        .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-cache", .accelBuffering: "no",
    ]

    private func sendEvents(
        until clientDisconnect: OneShotSignal, _ write: @concurrent (ByteBuffer) async throws -> Void
    ) async throws {
        var state = RunState(template: template, session: key.id, document: document)
        try await write(await RunEvent.started(thread: key.id.rawValue, run: id).frame())
        var hasBegun = false
        for _ in 0..<Self.maxPauses {
            let found = try? await sessions.find(
                key, andAuthored: document, atMost: Self.pause, until: clientDisconnect
            ) {
                documents in documents.filter { $0.id == document }
            }
            guard let found, let written = found.documents.first else { break }
            state.transcript = found.transcript ?? ""
            if !hasBegun, !isReplay {
                try await write(await RunEvent.snapshot(state).frame())
                hasBegun = true
            }
            guard written.status.isFinal else {
                // A server-sent comment keeps the connection alive; clients do not show it.
                try await write(ByteBuffer(string: ": writing\n\n"))
                continue
            }
            guard written.status.isUsable else {
                let why = written.errors.first?.message ?? "The note could not be written"
                return try await write(await RunEvent.failed(message: why, code: .endpoint).frame())
            }
            let sections = await EventLoopOffload.run(bytes: written.value?.utf8.count ?? 0) {
                RunSection.sections(of: written)
            }
            for section in sections {
                if !isReplay { try await write(await RunEvent.section(section).frame()) }
                state.sections.append(section)
            }
            try await write(await RunEvent.snapshot(state).frame())
            return try await write(await RunEvent.finished(thread: key.id.rawValue, run: id).frame())
        }
        try await write(await RunEvent.failed(message: "The note was not written in time", code: .endpoint).frame())
    }
}
