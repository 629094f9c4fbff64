import Connections
import HTTPTypes
package import Hummingbird

/// Streams of server-sent events, a limited number at once.
package struct EventStreams: Sendable {
    private let places: Places

    package init(limit: Int) { places = Places(limit: limit) }

    /// Answers with a stream, whose place is given back when it ends or is never sent.
    /// - Parameter write: writes the events until the stream is over.
    /// - Returns: nil if too many streams are open.
    package func response(
        _ write: @escaping @Sendable @concurrent (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response? {
        guard places.take() else { return nil }
        let place = SocketPlace { [places] in places.give() }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no"],
            body: ResponseBody { writer in
                try await write(&writer)
                place.giveBack()
                try await writer.finish(nil)
            })
    }
}
