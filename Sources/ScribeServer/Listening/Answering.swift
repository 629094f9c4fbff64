import Basics
import Connections
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ScribeHTTP

/// Answers the requests of connections: gives each its id and its state, and its answer the headers of a server.
struct Answering: Sendable {
    private let responder: ScribeApplication.Responder
    private let clock: WallClock
    private let logger: Logger
    /// The newest value of the header `date`, with its second since 1970.
    private let date = LockedValue((second: 0, field: HTTPField(name: .date, value: "")))

    init(with responder: ScribeApplication.Responder, clock: WallClock, logger: Logger) {
        (self.responder, self.clock, self.logger) = (responder, clock, logger)
    }

    func callAsFunction(_ request: Request, on connection: ClientConnection) async throws -> Response {
        let context = ScribeContext(connection: connection, requestID: RequestID().description, logger: logger)
        var response = try await responder.respond(to: request, context: context)
        // No route sets them. To look for them would take longer.
        response.headers.append(currentDate())
        response.headers.append(Self.name)
        return response
    }

    private static let name = HTTPField(name: .server, value: "scribe-emulator/\(ScribeVersion.current)")

    private func currentDate() -> HTTPField {
        let now = clock.now
        let second = Int(saturating: now.timeIntervalSince1970)
        return date.withLock { date in
            if date.second != second { date = (second, HTTPField(name: .date, value: now.httpTime)) }
            return date.field
        }
    }
}
