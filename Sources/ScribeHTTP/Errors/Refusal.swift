package import HTTPTypes
package import ScribeDomain

/// What a caller is told when something went wrong.
package struct Refusal: Sendable {
    package let status: HTTPResponse.Status
    /// The family's code of the failure; nil until an ``ErrorTable`` chooses one by the status.
    var familyCode: String?
    /// The failure's name in the domain or in HTTP, in snake case.
    package let name: String
    /// A sentence, or nothing.
    package let message: String
    package let headers: HTTPFields
    /// Further members, where the family's envelope has a place for them.
    package let details: JSON?

    package init(
        _ status: HTTPResponse.Status, code: String? = nil, name: String = "", _ message: String,
        headers: HTTPFields = [:], details: JSON? = nil
    ) {
        self.status = status
        familyCode = code
        self.name = name
        self.message = message
        self.headers = headers
        self.details = details
    }

    /// Names the failure to programs.
    package var code: String { familyCode ?? name }

    /// The same failure in a family's words.
    package func saying(
        _ message: String, status: HTTPResponse.Status? = nil, code: String? = nil, headers: HTTPFields? = nil
    ) -> Refusal {
        Refusal(
            status ?? self.status, code: code ?? familyCode, name: name, message, headers: headers ?? self.headers,
            details: details)
    }
}

/// What all families say alike.
extension Refusal {
    /// - Parameter statuses: in place of those given here.
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
        case .bodyTooLarge(let limit):
            self.init(.contentTooLarge, name: "too_large", "The body is larger than \(limit) bytes")
        case .routeNotFound(let hint): self.init(.notFound, name: "route_not_found", hint)
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

    /// A failure of the server's own. It says only where the log has it.
    package static func internalError(_ context: ScribeContext) -> Refusal {
        Refusal(
            .internalServerError, name: "unexpected_error",
            "Something went wrong; the log has it under request \(context.requestID)")
    }

    /// A plain GET where a socket is served.
    package static func upgradeRequired(code: String? = nil, _ message: String) -> Refusal {
        Refusal(.upgradeRequired, code: code, message, headers: [.upgrade: "websocket"])
    }
}

extension HTTPFields {
    package static func retryAfter(_ seconds: Int) -> HTTPFields { [.retryAfter: String(seconds)] }
}

extension HTTPResponse.Status {
    /// HTTPTypes has no name for it.
    package static let paymentRequired = HTTPResponse.Status(code: 402, reasonPhrase: "Payment Required")
}
