public import Hummingbird
import Logging
public import ScribeDomain

/// What is known of a request while it is served.
public struct ScribeContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// Who it acts for; nil before authentication and on routes without one.
    public var principal: Principal?
    /// Named in the log and in the `x-request-id` header.
    public let requestID: String

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        requestID = source.logger[metadataKey: "hb.request.id"].map { "\($0)" } ?? ""
    }
}
