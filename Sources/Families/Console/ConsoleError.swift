import Basics
import HTTPTypes
import ScribeHTTP

/// Errors of the console's own routes. Calls of the operator API keep that API's errors.
enum ConsoleError: Error, Hashable, Sendable {
    /// The request's host name could belong to a web page (DNS rebinding).
    case foreignHost
    /// A page of another origin sent the request.
    case foreignPage
    /// A proxy forwarded the request to a server without an operators' token.
    case forwarded
    /// The request has no session, or one that has ended.
    case noSession
    /// The request lacks the token of the session's pages.
    case noPageToken
    case wrongToken
    case notJSON
    case unknownClient
    case notFound
}

/// Renders the console's errors as `application/problem+json`, as the operator API does.
struct ConsoleErrors: ProblemErrorTable {
    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case let error as ConsoleError: error.refusal
        case HTTPProblem.tooManyAttempts: shared.saying("Too many wrong tokens were sent, try again later")
        default: nil
        }
    }
}

extension ConsoleError {
    var refusal: Refusal {
        switch self {
        case .foreignHost:
            Refusal(
                .forbidden, code: "foreign_host",
                "Use an IP address, localhost or a host name without a dot; other names could belong to a web page")
        case .foreignPage: Refusal(.forbidden, code: "foreign_page", "Only the console's own pages may ask here")
        case .forwarded:
            Refusal(
                .forbidden, code: "forwarded",
                "A proxy forwarded this; set --admin-token to use the console through a proxy")
        case .noSession: Refusal(.unauthorized, code: "no_session", "The session has ended; open the console again")
        case .noPageToken:
            Refusal(.forbidden, code: "no_page_token", "The header X-Scribe-Console must have the token of the page")
        case .wrongToken: Refusal(.unauthorized, code: "wrong_token", "That is not this server's token")
        case .notJSON: Refusal(.unsupportedMediaType, code: "not_json", "The body must be JSON")
        case .unknownClient: Refusal(.notFound, code: "not_found", "No such client may log in here")
        case .notFound: Refusal(.notFound, code: "not_found", "The console has no such page")
        }
    }
}
