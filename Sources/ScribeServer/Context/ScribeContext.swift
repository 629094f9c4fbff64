package import Hummingbird
import Logging
package import ScribeDomain

/// What is known of a request while it is served.
package struct ScribeContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// Who it acts for; nil before authentication and on routes without one.
    package var principal: Principal?
    /// What its body takes of the memory for bodies.
    var body = BodyShare(of: BodyBudget(limit: .max))
    /// Named in the log and in the `x-request-id` header.
    package let requestID: String

    /// The other end's; empty where there is none.
    let address: String

    package init(source: ApplicationRequestContextSource) {
        address = source.channel.remoteAddress?.ipAddress ?? ""
        coreContext = CoreRequestContextStorage(source: source)
        requestID = source.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? ""
    }
}
