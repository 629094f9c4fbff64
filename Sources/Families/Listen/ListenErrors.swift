import Basics
import Engines
import HTTPTypes
import Outbound
import ScribeDomain
import ScribeHTTP

/// Renders errors in Deepgram's envelope (streaming.md 1.3), or in SubQ's (3).
///
/// Deepgram's is `{"err_code": …, "err_msg": …, "request_id": …}`; SubQ's is `{"error": …, "request_id": …}`.
struct ListenErrors: ErrorTable {
    var speaksSubQ = false

    let statuses: [ScribeError.Kind: HTTPResponse.Status] = [.notFound: .badRequest, .conflict: .badRequest]
    let codes: [HTTPResponse.Status: String] = [
        400: "Bad Request", 401: "INVALID_AUTH", 402: "ASR_PAYMENT_REQUIRED", 403: "INSUFFICIENT_PERMISSIONS",
        404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 408: "Bad Request", 409: "Bad Request", 413: "Bad Request",
        415: "Bad Request", 422: "ASR_UNPROCESSABLE_ENTITY", 426: "Bad Request", 429: "TOO_MANY_REQUESTS",
        500: "INTERNAL_SERVER_ERROR", 502: "INTERNAL_SERVER_ERROR", 503: "INTERNAL_SERVER_ERROR",
        504: "INTERNAL_SERVER_ERROR",
    ]

    func refusal(for error: any Error, shared: Refusal, _ context: ScribeContext) -> Refusal? {
        switch error {
        case ScribeError.tooLarge(let limit): Refusal(.bodyTooLarge(limit: limit))
        case ScribeError.storageQuotaExceeded:
            Refusal(speaksSubQ ? .forbidden : .paymentRequired, "Project does not have enough storage left.")
        case ScribeError.invalidState, ScribeError.resourceNotFound: shared.saying(shared.name)
        case HTTPProblem.unauthenticated: shared.saying("Invalid credentials.")
        case HTTPProblem.busy, HTTPProblem.tooManyAttempts:
            shared.saying("Too many open streams, try again", status: .tooManyRequests)
        case let error as ListenError: error.refusal
        case let failure as EngineFailure: failure.refusal
        case let problem as OutboundError:
            Refusal(.badRequest, code: "REMOTE_CONTENT_ERROR", problem.explanation)
        default: nil
        }
    }

    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON {
        let (message, request) = (JSON.string(refusal.message), JSON.string(Self.id(context)))
        return speaksSubQ
            ? ["error": message, "request_id": request]
            : ["err_code": .string(refusal.code), "err_msg": message, "request_id": request]
    }

    func headers(_ refusal: Refusal, _ context: ScribeContext) -> HTTPFields {
        [.dgRequestID: Self.id(context), .dgError: refusal.message]
    }

    /// The digits of the request's id, written as a UUID.
    private static func id(_ context: ScribeContext) -> String {
        let digits = context.requestID.filter { $0 != "-" }
        var id = String(repeating: "0", count: max(0, 32 - digits.count)) + digits
        for place in [20, 16, 12, 8] { id.insert("-", at: id.index(id.startIndex, offsetBy: place)) }
        return id
    }
}

/// Errors of live recognition, beside the shared ones.
enum ListenError: Error, Hashable, Sendable {
    /// A plain GET to a WebSocket path.
    case upgradeRequired
    /// A granted token was used where only an API key is accepted.
    case notPermitted
    /// A value that Deepgram refuses, with its sentence.
    case invalidParameter(String)
    /// A model that is none of Deepgram's.
    case modelNotPermitted
    /// A language that the model has not.
    case noSuchCombination
    /// A model of `/v2/listen`.
    case modelOfOtherEndpoint
    /// No model has the id.
    case modelNotFound

    fileprivate var refusal: Refusal {
        switch self {
        case .upgradeRequired:
            .upgradeRequired("Live audio goes over a WebSocket; POST sends a whole recording")
        case .notPermitted: Refusal(.forbidden, "A granted token grants no other; use an API key.")
        case .invalidParameter(let sentence): Refusal(.badRequest, code: "INVALID_QUERY_PARAMETER", sentence)
        case .modelNotPermitted: Refusal(.forbidden, "Project does not have access to the requested model.")
        case .noSuchCombination:
            Refusal(.badRequest, "Bad Request: No such model/language/tier combination found.")
        case .modelOfOtherEndpoint:
            Refusal(
                .badRequest, code: "V2_MODEL_ON_V1_LISTEN_ENDPOINT",
                "Flux models are not supported on the `/v1/listen` endpoint. Please use the `/v2/listen` endpoint for "
                    + "conversational speech-to-text requests.")
        case .modelNotFound: Refusal(.notFound, "There is no model of this id.")
        }
    }
}

extension EngineFailure {
    fileprivate var refusal: Refusal {
        switch origin {
        case .input: Refusal(.badRequest, "Failed to process audio: \(reason)")
        case .refusal, .idleness:
            Refusal(
                .serviceUnavailable, "The recogniser is not available, try again",
                headers: .retryAfter(Int(saturating: (retryAfter ?? 1).rounded(.up))))
        case .service where code == .transcriptionTimeout:
            Refusal(.gatewayTimeout, "The recogniser took too long")
        case .service: Refusal(.internalServerError, "The recogniser has failed")
        }
    }
}

extension OutboundError {
    /// The message for the client that sent the URL.
    fileprivate var explanation: String {
        switch self {
        case .invalid(let reason): "The URL \(reason)"
        case .unknownHost: "The host of the URL is not known"
        case .forbidden: "The URL leads to where this server is not sent; its operator can allow it by outbound-allow"
        case .unreachable: "Nobody answered at the URL, or not in time"
        case .redirect(let status): "The URL leads elsewhere (\(status)); name the final one"
        case .refused(let status): "The server of the URL answered with \(status)"
        }
    }
}

extension HTTPField.Name {
    static let dgRequestID = named("dg-request-id")
    static let dgError = named("dg-error")
}
