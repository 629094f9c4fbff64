import HTTPTypes
import Hummingbird
import ScribeDomain

/// The templates' own envelope, in which every refusal is a 400 (eka-v2.md 2.0).
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

    func response(to error: ScribeError, context: ScribeContext) throws -> Response {
        switch error {
        case .invalidRequest(let field, let problem):
            try refusal(sentence(on: field, problem))
        case .resourceNotFound(let what), .invalidState(let what):
            try refusal(what)
        case .unauthenticated, .invalidClient, .refreshRefused, .bodyTooLarge, .audioLocationRequired,
            .batchLocationRequired, .transactionLimitExceeded, .storageQuotaExceeded, .transactionAlreadyInitialized,
            .transactionNotFound,
            .polledTransactionNotFound, .transactionCancelled, .transactionNeverCommitted, .resultNotFound,
            .feedbackAlreadySubmitted, .refusedByFixture, .routeNotFound, .methodNotAllowed, .busy, .tooManyAttempts,
            .storageUnavailable:
            try EkaErrors().response(to: error, context: context)
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "INTERNAL_SERVER_ERROR", apology(context))
    }

    private func refusal(_ message: String) throws -> Response { try answer(.badRequest, "BAD_REQUEST", message) }

    private func answer(_ status: HTTPResponse.Status, _ code: String, _ message: String) throws -> Response {
        try .json(status, Body(error: .init(code: code, message: message, displayMessage: message)))
    }
}
