import Basics
package import Connections
import ScribeRuntime

/// Sockets whose first message names another world than the one that opened them.
extension World {
    /// Serves a socket until it ends or this world ends.
    package func serve(
        _ socket: WebSocket, _ body: () async throws -> WebSocketClosure
    ) async throws -> WebSocketClosure {
        use.begin()
        defer { use.end() }
        return try await end.watched(by: { socket.close(.worldEnded) }) {
            guard !end.hasFired else { throw WebSocketClosure.worldEnded }
            return try await body()
        }
    }
}
