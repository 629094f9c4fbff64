import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// The templates' own envelope, in which every refusal is a 400 (eka.md 2.0).
struct TemplateErrors: ErrorStyle {
    private struct Body: Encodable {
        struct Detail: Encodable {
            let code: String
            let message: String
            let displayMessage: String

            enum CodingKeys: String, CodingKey {
                case code, message
                case displayMessage = "display_message"
            }
        }

        let error: Detail
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure {
        case .invalidRequest(let field, let problem):
            try refusal(sentence(on: field, problem))
        case .resourceNotFound(let what), .invalidState(let what):
            try refusal(what)
        case .tooLarge, .transactionLimitExceeded, .storageQuotaExceeded, .transactionAlreadyInitialized,
            .transactionNotFound, .transactionCancelled, .transactionNeverCommitted, .sessionEnded, .sessionCompleted,
            .sessionExpired,
            .resultNotFound,
            .feedbackAlreadySubmitted, .refusedOnPurpose, .storageUnavailable:
            try EkaErrors().response(to: failure, context: context)
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        try EkaErrors().response(to: problem, context: context)
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "INTERNAL_SERVER_ERROR", apology(context))
    }

    private func refusal(_ message: String) throws -> Response { try answer(.badRequest, "BAD_REQUEST", message) }

    private func answer(_ status: HTTPResponse.Status, _ code: String, _ message: String) throws -> Response {
        try .json(status, Body(error: .init(code: code, message: message, displayMessage: message)))
    }
}
