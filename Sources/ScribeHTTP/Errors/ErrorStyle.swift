package import HTTPTypes
package import Hummingbird
package import ScribeDomain

/// How one API family says that something went wrong.
package protocol ErrorStyle: Sendable {
    /// The family's answer to a failure that is the caller's to know.
    func response(to failure: ScribeError, context: ScribeContext) throws -> Response
    /// The same where only HTTP was used wrongly.
    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response
    /// The family's answer to an error of its own, which no other family knows; nil for any other.
    func response(toOwn error: any Error, context: ScribeContext) throws -> Response?
    /// The family's answer to a failure of ours; it says nothing but where to find it in the log.
    func internalError(context: ScribeContext) throws -> Response
}

extension ErrorStyle {
    package func response(toOwn error: any Error, context: ScribeContext) throws -> Response? { nil }
}

/// Sentences that all families say alike.
extension ErrorStyle {
    package func sentence(on field: String?, _ problem: String) -> String {
        field.map { "Field '\($0)' \(problem)" } ?? "The body \(problem)"
    }

    package func apology(_ context: ScribeContext) -> String {
        "Something went wrong; the log has it under request \(context.requestID)"
    }

    package static var foreignPage: String {
        "A page of this origin may not use the cookie; name the origin with --cors-origins, or send the token in a header"
    }

    package static var notJSON: String { "A body that is sent by a cookie must be declared as application/json" }
}

extension HTTPFields {
    package static func retryAfter(_ seconds: Int) -> HTTPFields { [.retryAfter: String(seconds)] }
}
