import Basics
import HTTPTypes
import Hummingbird
import Journal
import ScribeDomain
import ScribeRuntime

/// Recordings that the next sockets of their routes get, in place of the emulated service.
package final class Playbacks: Sendable {
    /// A recording with how it is played.
    package struct Playback: Sendable {
        package let id: String
        package let recording: SocketRecording
        /// Whether frames are sent without a pause.
        package let isFast: Bool
        /// Whether a client is closed that sends another frame than the recorded one.
        package let mustMatch: Bool
        /// Sockets that still get it.
        package fileprivate(set) var left: Int
        package fileprivate(set) var played = 0
    }

    private struct State {
        var playbacks: [Playback] = []
        var made = 0
    }

    /// Most recordings of a world.
    package static let limit = 10

    private let memory: WorldMemory.Share
    private let state = LockedValue(State())

    init(_ memory: WorldMemory.Share) { self.memory = memory }

    package var all: [Playback] { state.withLock { $0.playbacks } }

    /// - Throws: ``JournalProblem/tooManyPlaybacks(limit:)``, ``ScribeError/storageUnavailable(cause:)``.
    package func add(
        _ recording: SocketRecording, isFast: Bool, mustMatch: Bool, times: Int
    ) throws -> Playback {
        try state.withLock { state in
            state.playbacks.removeAll { $0.left == 0 }
            guard state.playbacks.count < Self.limit else { throw JournalProblem.tooManyPlaybacks(limit: Self.limit) }
            try memory.resize(to: state.playbacks.reduce(recording.size) { $0 + $1.recording.size })
            state.made += 1
            let playback = Playback(
                id: "playback-\(state.made)", recording: recording, isFast: isFast, mustMatch: mustMatch, left: times)
            state.playbacks.append(playback)
            return playback
        }
    }

    package func removeAll() {
        state.withLock { $0.playbacks = [] }
        try? memory.resize(to: 0)
    }

    /// - Returns: false if there is no such recording.
    package func remove(_ id: String) -> Bool {
        state.withLock { state in
            let count = state.playbacks.count
            state.playbacks.removeAll { $0.id == id }
            // A smaller size always fits.
            try? memory.resize(to: state.playbacks.total { $0.recording.size })
            return state.playbacks.count < count
        }
    }

    /// Takes the recording for a socket; nil for none.
    func next(operation: String?, path: String) -> Playback? {
        state.withLock { state in
            guard
                let index = state.playbacks.firstIndex(where: { playback in
                    let recorded = playback.recording
                    return playback.left > 0
                        && (recorded.operation.map { $0 == operation } ?? (recorded.path == path))
                })
            else { return nil }
            state.playbacks[index].left -= 1
            state.playbacks[index].played += 1
            return state.playbacks[index]
        }
    }
}

extension World {
    /// Recordings for the world's sockets.
    package var playbacks: Playbacks { part { Playbacks($0.runtime.memory.share()) } }
}

extension ScribeContext {
    /// Takes the recording for the socket of a request whose client has been admitted; nil for none.
    func nextPlayback(for request: Request, in world: World) -> Playbacks.Playback? {
        let playbacks = world.playbacks
        guard !playbacks.all.isEmpty else { return nil }
        let operation = OperationIndex.documented.operation(of: .get, request.uri.path)
        let playback = playbacks.next(operation: operation, path: request.uri.path)
        if let playback {
            record?.update {
                $0.playback = playback.id
                return 0
            }
        }
        return playback
    }
}
