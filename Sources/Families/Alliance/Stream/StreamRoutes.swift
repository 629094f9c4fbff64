import Basics
import Engines
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/voice/v1/stream/sessions/{stream}/audio`: receives a protocol session's audio over a WebSocket
/// (medscribe.md 2.5).
///
/// The link itself is the credential: its client sends no other (row 58).
struct StreamRoutes: Sendable {
    let sessions: ProtocolSessions
    let streams: SessionStreams
    let tickets: Tickets
    let sockets: SocketRoute
    let clock: WallClock

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/v1/stream/sessions/{stream}/audio", use: stream)
    }

    @Sendable private func stream(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let ticket = context.text(of: "stream"),
            let (subject, principal) = tickets.redeem(ticket, UploadLinks.streamPurpose)
        else { throw AllianceError.unknownLink }
        let id = TransactionID(subject)
        let key = Transaction.Key(business: principal.business, id: id)
        _ = try await sessions.requireOpen(key)
        guard let upgrade = WebSocketUpgrade(request) else { throw AllianceError.upgradeRequired }
        let options = LiveOptions()
        let entry = try sockets.enter(principal, context)
        let recording = try await streams.begin(id, options, for: principal)
        // Before the client knows that its socket is open: the end of its session must wait for the audio.
        let open = OpenStream(recording, of: key, in: streams, clock)
        return sockets.response(to: upgrade, in: entry, request, context) { session, messages in
            let socket = open.socket
            socket.open(as: session.socket)
            session.atEnd {
                defer { open.end() }
                try await recording.breakOff()
            }
            async let _: Void = closeAtEnd(of: key, socket)
            let stream = StreamSession(recording: recording, socket: socket, clock: sessions.clock) {
                try await sessions.noteMessage(of: key)
            }
            return try await stream.serve(messages, session.idle)
        }
    }

    /// Closes a socket when its session is ended, cancelled, expired or removed.
    private func closeAtEnd(of key: Transaction.Key, _ socket: AudioSocket) async {
        do {
            guard let reason = try await sessions.refusal(of: key) else { return }
            throw reason
        } catch {
            StreamSession.closure(for: error).map(socket.close)
        }
    }
}

/// Recording and socket of a stream, which its session knows until the stream ends, or until its client has left before
/// the socket was open.
private final class OpenStream: Sendable {
    let socket: AudioSocket
    private let recording: LiveRecording
    private let key: Transaction.Key
    private let streams: SessionStreams

    init(_ recording: LiveRecording, of key: Transaction.Key, in streams: SessionStreams, _ clock: WallClock) {
        socket = AudioSocket(replaced: nil, clock)
        self.recording = recording
        self.key = key
        self.streams = streams
        streams.register(socket, for: key)
    }

    func end() {
        streams.remove(socket, from: key)
        streams.end(recording, of: key)
        socket.ended()
    }

    deinit { end() }
}
