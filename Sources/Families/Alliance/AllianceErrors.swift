import Basics
import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Renders errors in the session protocol's envelope, with the members that older clients read (medscribe.md section
/// 5).
struct AllianceErrors: ErrorTable {
    let statuses: [ScribeError.Kind: HTTPResponse.Status] = [.invalid: .unprocessableContent]
    let codes: [HTTPResponse.Status: String] = [
        400: "invalid_request", 401: "authentication_failed", 403: "permission_denied", 404: "resource_not_found",
        405: "invalid_request", 413: "invalid_request", 415: "invalid_request", 422: "invalid_request",
        426: "invalid_request", 429: "rate_limit_exceeded", 500: "internal_error", 503: "service_unavailable",
    ]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case let error as AllianceError: error.refusal
        case ScribeError.transactionNotFound:
            Refusal(
                .notFound, code: "session_not_found", "There is no such session",
                details: context.transactionText.map { ["session_id": .string($0)] })
        case ScribeError.transactionAlreadyInitialized:
            shared.saying("A session of that id is there already", code: "txn_already_initialized")
        case ScribeError.sessionEnded: shared.saying("The session was ended", code: shared.name)
        case ScribeError.sessionCompleted: shared.saying("The session was completed", code: shared.name)
        case ScribeError.sessionExpired:
            shared.saying("The session was never ended, and its time is over", status: .gone)
        case ScribeError.transactionCancelled: shared.saying("The session was cancelled", code: "session_ended")
        case ScribeError.refusedOnPurpose:
            Refusal(.internalServerError, "The session's fixture asks for this failure")
        // Not 429, which the web SDK takes for a rate limit before it reads the code.
        case ScribeError.transactionLimitExceeded:
            shared.saying("No more sessions can be started", code: "txn_limit_exceeded")
        case ScribeError.storageQuotaExceeded:
            shared.saying("No more can be stored; delete some first", code: "storage_limit_exceeded")
        case ScribeError.resultNotFound, ScribeError.resourceNotFound: shared.saying("Not found")
        case ScribeError.feedbackAlreadySubmitted: shared.saying("It is there already")
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        [
            "status": "failed",
            "error": [
                "code": .string(refusal.code), "message": .string(refusal.message),
                "display_message": .string(refusal.message), "details": refusal.details,
            ],
            "txn_id": .string(context.transactionText ?? ""),
            "b_id": .string(context.principal?.business.rawValue ?? ""),
        ]
    }
}

extension AllianceError {
    fileprivate var refusal: Refusal {
        switch self {
        case .malformed(let problem): Refusal(.badRequest, problem)
        case .invalidTemplate(let id, let known):
            Refusal(
                .badRequest, code: "invalid_template",
                "One of the templates does not exist: '\(id)'. Known are \(known.joined(separator: ", "))",
                reason: "One of the templates does not exist")
        case .templateNotFound: Refusal(.notFound, code: "template_not_found", "There is no such template")
        case .documentNotFound: Refusal(.notFound, "There is no such document")
        case .webhookNotFound: Refusal(.notFound, code: "webhook_not_found", "No such webhook")
        case .tooManyWebhooks: Refusal(.unprocessableContent, "No more webhooks can be registered")
        case .alreadyCommitted:
            Refusal(
                .conflict, code: "session_already_committed", "That cannot be changed once the session has ended")
        case .chunkTooLarge:
            Refusal(.contentTooLarge, code: "chunk_too_large", "A file may have \(AudioRoutes.largestFile) bytes")
        case .invalidAudioFormat(let format):
            Refusal(
                .badRequest, code: "invalid_audio_format", "Recordings of that format are not taken",
                details: [
                    "provided_format": .string(format),
                    "supported_formats": .array(Set(AudioFileName.types.values).sorted()) { .string($0) },
                ])
        case .audioNotEnabled:
            Refusal(.forbidden, code: "audio_not_enabled", "This server has no ffmpeg to make one recording")
        case .audioNotAvailable:
            Refusal(.notFound, code: "audio_not_available", "There is no recording, or not now")
        case .unknownLink: Refusal(.forbidden, code: "forbidden", "The link leads to no session")
        case .upgradeRequired: .upgradeRequired("This is a WebSocket")
        }
    }
}
