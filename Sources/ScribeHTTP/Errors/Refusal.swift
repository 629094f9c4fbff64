package import Basics
package import HTTPTypes
package import ScribeDomain

/// An error as clients see it: status, code, message, headers.
package struct Refusal: Sendable {
    package let status: HTTPResponse.Status
    /// The family's error code; nil until an ``ErrorTable`` chooses one by the status.
    var familyCode: String?
    /// Name of the error in the domain or in HTTP, in snake case.
    package let name: String
    /// One sentence, or empty.
    package let message: String
    /// The sentence for log and journal, where the message repeats what the client sent; nil for the message.
    package let reason: String?
    package let headers: HTTPFields
    /// Further members of the envelope, for families that have such.
    package let details: JSON?

    package init(
        _ status: HTTPResponse.Status, code: String? = nil, name: String = "", _ message: String,
        reason: String? = nil, headers: HTTPFields = [:], details: JSON? = nil
    ) {
        self.status = status
        familyCode = code
        self.name = name
        self.message = message
        self.reason = reason
        self.headers = headers
        self.details = details
    }

    /// The error code for programs.
    package var code: String { familyCode ?? name }

    /// A copy with the family's message, status, code or headers.
    package func saying(
        _ message: String, status: HTTPResponse.Status? = nil, code: String? = nil, headers: HTTPFields? = nil
    ) -> Refusal {
        Refusal(
            status ?? self.status, code: code ?? familyCode, name: name, message, headers: headers ?? self.headers,
            details: details)
    }
}

/// Refusals common to all families.
extension Refusal {
    /// Converts a domain error into a refusal.
    /// - Parameter statuses: Statuses that replace the common ones.
    package init(_ failure: ScribeError, _ statuses: [ScribeError.Kind: HTTPResponse.Status]) {
        let status: HTTPResponse.Status =
            switch failure.kind {
            case .invalid, .state, .exhausted, .refused: .badRequest
            case .tooLarge: .contentTooLarge
            case .notFound: .notFound
            case .conflict: .conflict
            case .unavailable: .serviceUnavailable
            }
        let message =
            switch failure {
            case .invalidRequest(let field, let problem):
                field.map { "Field '\($0)' \(problem)" } ?? "The body \(problem)"
            case .tooLarge: "The body is too large"
            case .invalidState(let reason), .resourceNotFound(let reason): reason
            case .storageUnavailable: "Storage is not available, try again"
            default: failure.code
            }
        self.init(statuses[failure.kind] ?? status, name: failure.code, message)
    }

    package init(_ problem: HTTPProblem) {
        switch problem {
        case .unauthenticated(let reason): self.init(.unauthorized, name: "unauthenticated", reason)
        case .foreignPage:
            self.init(
                .forbidden, name: "foreign_page",
                "A page of this origin may not use the cookie; "
                    + "name the origin with --cors-origins, or send the token in a header")
        case .notJSON:
            self.init(
                .unsupportedMediaType, name: "not_json",
                "A body that is sent by a cookie must be declared as application/json")
        case .encodedBody(let encoding):
            let cure = encoding == "gzip" ? "; --accept-gzip reads it" : ""
            self.init(
                .unsupportedMediaType, name: "encoded_body",
                "A body with Content-Encoding: \(encoding) is not read here\(cure)")
        case .bodyTooLarge(let limit):
            self.init(.contentTooLarge, name: "too_large", "The body is larger than \(limit) bytes")
        case .routeNotFound(let hint): self.init(.notFound, name: "route_not_found", hint)
        case .namespaceNotFound:
            self.init(
                .notFound, name: "namespace_not_found",
                "There is no such namespace; scribe-emulator ns create makes one")
        case .methodNotAllowed(let allowed):
            let methods = allowed.joined(separator: ", ")
            self.init(
                .methodNotAllowed, name: "method_not_allowed", "Allowed here: \(methods)", headers: [.allow: methods])
        case .busy(let seconds):
            self.init(
                .serviceUnavailable, name: "busy", "Too much is being done at once, try again",
                headers: .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            self.init(
                .tooManyRequests, name: "too_many_attempts", "Too many attempts have failed",
                headers: .retryAfter(seconds))
        }
    }

    /// An internal error. The message only names the request, whose details are in the log.
    package static func internalError(_ context: ScribeContext) -> Refusal {
        Refusal(
            .internalServerError, name: "unexpected_error",
            "Something went wrong; the log has it under request \(context.requestID)")
    }

    /// A plain GET to a WebSocket path.
    package static func upgradeRequired(code: String? = nil, _ message: String) -> Refusal {
        Refusal(.upgradeRequired, code: code, message, headers: [.upgrade: "websocket"])
    }
}

extension HTTPFields {
    package static func retryAfter(_ seconds: Int) -> HTTPFields { [.retryAfter: String(seconds)] }
}

extension HTTPResponse.Status {
    /// Status 402, which HTTPTypes does not define.
    package static let paymentRequired = HTTPResponse.Status(code: 402, reasonPhrase: "Payment Required")
}
