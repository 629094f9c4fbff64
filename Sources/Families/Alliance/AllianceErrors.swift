import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP

/// The session protocol's envelope, with the members that older clients read (medscribe.md section 5).
struct AllianceErrors: ErrorStyle {
    private struct Body: Encodable {
        struct Detail: Encodable {
            let code: String
            let message: String
            let displayMessage: String
            var details: [String: JSONValue]?

            enum CodingKeys: String, CodingKey {
                case code, message, details
                case displayMessage = "display_message"
            }
        }

        let status = "failed"
        let error: Detail
        let transaction: String
        let business: String

        enum CodingKeys: String, CodingKey {
            case status, error
            case transaction = "txn_id"
            case business = "b_id"
        }
    }

    func response(to failure: ScribeError, context: ScribeContext) throws -> Response {
        switch failure {
        case .invalidRequest(let field, let problem):
            return try answer(.unprocessableContent, "invalid_request", sentence(on: field, problem), context)
        case .transactionNotFound:
            let details = context.transactionText.map { ["session_id": JSONValue.string($0)] }
            return try answer(.notFound, "session_not_found", "There is no such session", context, details: details)
        case .transactionAlreadyInitialized:
            return try answer(
                .conflict, "txn_already_initialized", "A session of that id is there already", context)
        case .sessionEnded: return try answer(.badRequest, failure.code, "The session was ended", context)
        case .sessionCompleted: return try answer(.badRequest, failure.code, "The session was completed", context)
        case .sessionExpired:
            return try answer(.gone, failure.code, "The session was never ended, and its time is over", context)
        case .transactionCancelled:
            return try answer(.badRequest, "session_ended", "The session was cancelled", context)
        case .invalidState(let problem): return try answer(.badRequest, "invalid_request", problem, context)
        case .refusedOnPurpose:
            return try answer(
                .internalServerError, "internal_error", "The session's fixture asks for this failure", context)
        // Not 429, which the web SDK takes for a rate limit before it reads the code.
        case .transactionLimitExceeded:
            return try answer(.badRequest, "txn_limit_exceeded", "No more sessions can be started", context)
        case .storageQuotaExceeded:
            return try answer(
                .badRequest, "storage_limit_exceeded", "No more can be stored; delete some first", context)
        case .tooLarge, .transactionNeverCommitted, .resultNotFound, .resourceNotFound, .feedbackAlreadySubmitted,
            .storageUnavailable:
            return try response(toKindOf: failure, context)
        }
    }

    private func response(toKindOf failure: ScribeError, _ context: ScribeContext) throws -> Response {
        switch failure.kind {
        case .invalid: try answer(.unprocessableContent, "invalid_request", failure.code, context)
        case .tooLarge: try answer(.contentTooLarge, "invalid_request", "The body is too large", context)
        case .notFound: try answer(.notFound, "resource_not_found", "Not found", context)
        case .conflict: try answer(.conflict, failure.code, "It is there already", context)
        case .state, .refused: try answer(.badRequest, "invalid_request", failure.code, context)
        case .exhausted: try answer(.badRequest, failure.code, "No more can be started or stored", context)
        case .unavailable:
            try answer(
                .serviceUnavailable, "service_unavailable", "Storage is not available, try again", context)
        }
    }

    func response(to problem: HTTPProblem, context: ScribeContext) throws -> Response {
        switch problem {
        case .unauthenticated(let reason): try answer(.unauthorized, "authentication_failed", reason, context)
        case .foreignPage: try answer(.forbidden, "permission_denied", Self.foreignPage, context)
        case .notJSON: try answer(.unsupportedMediaType, "invalid_request", Self.notJSON, context)
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "invalid_request", "The body is larger than \(limit) bytes", context)
        case .routeNotFound(let hint): try answer(.notFound, "resource_not_found", hint, context)
        case .methodNotAllowed(let allowed):
            try answer(
                .methodNotAllowed, "invalid_request", "Allowed here: \(allowed.joined(separator: ", "))", context,
                [.allow: allowed.joined(separator: ", ")])
        case .busy(let seconds):
            try answer(
                .serviceUnavailable, "service_unavailable", "Too much is being done at once, try again", context,
                .retryAfter(seconds))
        case .tooManyAttempts(let seconds):
            try answer(
                .tooManyRequests, "rate_limit_exceeded", "Too many attempts have failed", context,
                .retryAfter(seconds))
        }
    }

    func response(toOwn error: any Error, context: ScribeContext) throws -> Response? {
        guard let error = error as? AllianceError else { return nil }
        return switch error {
        case .malformed(let problem): try answer(.badRequest, "invalid_request", problem, context)
        case .invalidTemplate:
            try answer(.badRequest, "invalid_template", "One of the templates does not exist", context)
        case .templateNotFound: try answer(.notFound, "template_not_found", "There is no such template", context)
        case .documentNotFound: try answer(.notFound, "resource_not_found", "There is no such document", context)
        case .webhookNotFound: try answer(.notFound, "webhook_not_found", "No such webhook", context)
        case .tooManyWebhooks:
            try answer(.unprocessableContent, "invalid_request", "No more webhooks can be registered", context)
        case .alreadyCommitted:
            try answer(
                .conflict, "session_already_committed", "That cannot be changed once the session has ended", context)
        case .chunkTooLarge:
            try answer(
                .contentTooLarge, "chunk_too_large", "A file may have \(AudioRoutes.largestFile) bytes", context)
        case .invalidAudioFormat(let format):
            try answer(
                .badRequest, "invalid_audio_format", "Recordings of that format are not taken", context,
                details: [
                    "provided_format": .string(format),
                    "supported_formats": .array(
                        Set(AudioFileName.types.values).sorted().map { .string($0) }),
                ])
        case .audioNotEnabled:
            try answer(.forbidden, "audio_not_enabled", "This server has no ffmpeg to make one recording", context)
        case .audioNotAvailable:
            try answer(.notFound, "audio_not_available", "There is no recording, or not now", context)
        case .unknownLink: try answer(.forbidden, "forbidden", "The link leads to no session", context)
        case .upgradeRequired:
            try answer(
                .upgradeRequired, "invalid_request", "This is a WebSocket", context, [.upgrade: "websocket"])
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "internal_error", apology(context), context)
    }

    private func answer(
        _ status: HTTPResponse.Status, _ code: String, _ message: String, _ context: ScribeContext,
        _ headers: HTTPFields = [:], details: [String: JSONValue]? = nil
    ) throws -> Response {
        let body = Body(
            error: .init(code: code, message: message, displayMessage: message, details: details),
            transaction: context.transactionText ?? "", business: context.principal?.business.rawValue ?? "")
        var response = try Response.json(status, body)
        response.headers.append(contentsOf: headers)
        return response
    }
}
