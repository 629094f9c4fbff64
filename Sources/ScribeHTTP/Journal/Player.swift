import Basics
import Connections
import Crypto
import Foundation
import Journal
import NIOCore
import ScribeRuntime

/// Plays a recording to one socket.
struct Player: Sendable {
    let playback: Playbacks.Playback
    let clock: WallClock

    /// - Parameter first: A message that has been read already; nil for none.
    func play(
        _ socket: WebSocket, _ messages: inout WebSocketMessages.Iterator, after first: WebSocketMessage? = nil
    ) async throws -> WebSocketClosure {
        if playback.mustMatch { return try await playMatching(socket, &messages, after: first) }
        // The server's frames at their times, whatever the client sends.
        async let _: Void = sendAll(socket)
        while try await messages.next() != nil {}
        return .normal
    }

    private func sendAll(_ socket: WebSocket) async throws {
        var now = Duration.zero
        for frame in playback.recording.frames where frame.sender == .server {
            if let closure = try await send(frame, socket, &now) { return socket.close(closure) }
        }
    }

    /// Sends a frame of the server, once its time has come.
    /// - Returns: the closure that ends the socket.
    private func send(
        _ frame: SocketRecording.Frame, _ socket: WebSocket, _ now: inout Duration
    ) async throws -> WebSocketClosure? {
        if !playback.isFast, frame.time > now {
            try await clock.sleep(for: frame.time - now, as: .fault)
            now = frame.time
        }
        switch frame.content {
        case .text(let text): try await socket.send(text: text)
        case .binary: break
        case .close(let code, let reason): return WebSocketClosure(code, reason)
        }
        return nil
    }

    /// Takes the frames in their order: the client's must be as they were recorded.
    private func playMatching(
        _ socket: WebSocket, _ messages: inout WebSocketMessages.Iterator, after first: WebSocketMessage?
    ) async throws -> WebSocketClosure {
        var first = first
        var now = Duration.zero
        var number = 0
        for frame in playback.recording.frames {
            if frame.sender == .server {
                if let closure = try await send(frame, socket, &now) { return closure }
                continue
            }
            now = max(now, frame.time)
            number += 1
            let known: WebSocketMessage? =
                if let read = first.take() { read } else { try await next(&messages, number, frame, socket) }
            guard let message = known else { return .normal }
            let found = await EventLoopOffload.run(bytes: message.size) { self.difference(of: message, from: frame) }
            if let found {
                throw mismatch(number, found, socket)
            }
        }
        guard try await messages.next() == nil else {
            throw mismatch(number + 1, "expected the end of the socket", socket)
        }
        return .normal
    }

    /// The client's next message; nil once it has closed the socket as it did in the recording.
    private func next(
        _ messages: inout WebSocketMessages.Iterator, _ number: Int, _ frame: SocketRecording.Frame, _ socket: WebSocket
    ) async throws -> WebSocketMessage? {
        do {
            if let message = try await messages.next() { return message }
        } catch let closure as WebSocketClosure {
            guard case .close(let code, _) = frame.content else {
                note(number, "expected a message, found the end with \(closure.code)", socket)
                throw closure
            }
            if code != closure.code { note(number, "expected the end with \(code), found \(closure.code)", socket) }
            throw closure
        }
        note(number, "the client has left", socket)
        return nil
    }

    private func difference(of message: WebSocketMessage, from frame: SocketRecording.Frame) -> String? {
        switch (frame.content, message) {
        case (.text(let expected), .text(let found)):
            let found = SecretMask.text(found)
            if found == expected || Self.json(found).map({ $0 == Self.json(expected) }) ?? false { return nil }
            return "expected \(expected.prefix(60)), found \(found.prefix(60))"
        case (.binary(let size, let hash), .binary(let found)):
            let digest = found.withUnsafeReadableBytes { bytes in
                var hash = SHA256()
                hash.update(bufferPointer: bytes)
                return Hex.encode(hash.finalize())
            }
            if digest == hash { return nil }
            return "expected \(size) bytes of audio, found \(found.readableBytes) others"
        case (.text(let expected), _): return "expected \(expected.prefix(60)), found no text"
        case (.binary(let size, _), _): return "expected \(size) bytes of audio, found text"
        case (.close, _): return "expected the end of the socket, found a message"
        }
    }

    private static func json(_ text: String) -> JSONValue? { JSONDocument.untrusted(Data(text.utf8)) }

    private func mismatch(_ number: Int, _ difference: String, _ socket: WebSocket) -> WebSocketClosure {
        note(number, difference, socket)
        return WebSocketClosure(1008, "Message \(number) differs from the recording: \(difference)")
    }

    private func note(_ number: Int, _ difference: String, _ socket: WebSocket) {
        let isFull = socket.record?.mode.isFull ?? false
        let text = "message \(number) differs from the recording" + (isFull ? ": \(difference)" : "")
        socket.record?.update {
            $0.reason = text
            return text.utf8.count
        }
    }
}
