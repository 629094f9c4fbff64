package import Hummingbird
import Logging
import NIOCore
package import ScribeDomain
package import ScribeRuntime

/// What is known of a request while it is served.
package struct ScribeContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The namespace that it is for.
    package var world: World {
        guard let chosenWorld else { preconditionFailure("a request is served before its world is known") }
        return chosenWorld
    }
    /// Nil until ``FamilyResponder`` has it.
    var chosenWorld: World?
    /// Who it acts for; nil before authentication and on routes without one.
    package var principal: Principal?
    /// What vouches for that; nil before authentication and on routes without one.
    package var credential: Credential?
    /// The request's share of the memory budget; every request has one before its family sees it.
    package var memory: MemoryShare?
    /// Collects why the request is refused; nil where the log does not explain that.
    package var explanation: Explanation?
    /// Named in the log and in the `x-request-id` header.
    package let requestID: String

    /// When there is nobody any more to answer to.
    package let departure: Departure
    /// The other end's; empty where there is none.
    package let address: String

    package init(source: ApplicationRequestContextSource) {
        address = source.channel.remoteAddress?.ipAddress ?? ""
        departure = Self.departure(of: source.channel)
        coreContext = CoreRequestContextStorage(source: source)
        requestID = source.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? ""
    }

    /// That of the connection's guard, or the stream's. Without one, as in tests without a socket, nobody goes.
    private static func departure(of channel: any Channel) -> Departure {
        guard channel.eventLoop.inEventLoop else { return Departure() }
        let pipeline = channel.pipeline.syncOperations
        if let connection = try? pipeline.handler(type: ConnectionGuard.self) { return connection.departure }
        return (try? pipeline.handler(type: StreamGuard.self))?.departure ?? Departure()
    }
}
