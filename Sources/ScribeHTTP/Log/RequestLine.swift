package import Foundation
package import Logging

/// The log line of a request.
package struct RequestLine: Sendable {
    package let method: String
    /// Pattern of the route, or `-`.
    package let route: String
    package let status: Int
    package let milliseconds: Double
    package let requestID: String
    /// Trace id of the client's `traceparent`; nil without one.
    package let traceID: String?
    /// When the answer was ready.
    package let time: Date
}

/// A log handler that writes the lines of requests without metadata: its dictionaries cost more than a route.
package protocol RequestLineHandler: LogHandler {
    /// Writes a line at level `info`, as the handler would write it with metadata; nil where it cannot.
    var writeRequest: (@Sendable (RequestLine) -> Void)? { get }
}
