import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Errors of S3, each with the code and status of AWS.
enum S3Error: Error, Hashable, Sendable {
    case accessDenied(String)
    case authorizationHeaderMalformed(String)
    case authorizationQueryParametersError(String)
    case badDigest(String)
    case entityTooLarge
    case entityTooSmall
    case expiredToken
    case incompleteBody
    case internalError
    case invalidAccessKeyID
    case invalidArgument(String)
    case invalidDigest
    case invalidPart
    case invalidPolicyDocument(String)
    case invalidPartOrder
    case invalidRange
    case invalidRequest(String)
    case invalidToken
    case invalidURI
    case keyTooLong
    case malformedPostRequest
    case malformedXML
    case maxPostPreDataLengthExceeded
    case metadataTooLarge
    case methodNotAllowed
    case missingContentLength
    case noSuchKey
    case noSuchNamespace
    case noSuchUpload
    case notImplemented(String)
    case preconditionFailed
    case quotaExceeded
    case requestTimeTooSkewed
    case serviceUnavailable
    /// With the strings that the server signed, if the client may see them.
    case signatureDoesNotMatch(SigV4.Signed? = nil)
    case contentSHA256Mismatch
    /// An error that a fault rule makes.
    case fault(FaultAnswer)

    /// The status of the answer.
    ///
    /// 403 marks errors that no retry cures: the web client then gives up (C-74). Expired credentials, which fresh ones
    /// cure, are 400 as on AWS (eka.md 10.3). A full disk is 503.
    var status: HTTPResponse.Status {
        switch self {
        case .fault(let answer): .init(code: answer.status ?? Self.status(ofCode: answer.code))
        case .accessDenied, .invalidAccessKeyID, .quotaExceeded, .requestTimeTooSkewed, .signatureDoesNotMatch:
            .forbidden
        case .noSuchKey, .noSuchNamespace, .noSuchUpload: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .missingContentLength: .lengthRequired
        case .invalidRange: .rangeNotSatisfiable
        case .preconditionFailed: .preconditionFailed
        case .internalError: .internalServerError
        case .notImplemented: .notImplemented
        case .serviceUnavailable: .serviceUnavailable
        case .authorizationHeaderMalformed, .authorizationQueryParametersError, .badDigest, .entityTooLarge,
            .entityTooSmall, .expiredToken, .incompleteBody, .invalidArgument, .invalidDigest, .invalidPart,
            .invalidPartOrder, .invalidRequest, .invalidToken, .invalidURI, .keyTooLong, .malformedXML,
            .contentSHA256Mismatch, .invalidPolicyDocument, .malformedPostRequest, .maxPostPreDataLengthExceeded,
            .metadataTooLarge:
            .badRequest
        }
    }

    var codeAndMessage: (code: String, message: String) {
        switch self {
        case .fault(let answer):
            (
                answer.code ?? Self.code(ofStatus: answer.status ?? 500),
                FaultRefusal(answer).message
            )
        case .accessDenied(let message): ("AccessDenied", message)
        case .authorizationHeaderMalformed(let message): ("AuthorizationHeaderMalformed", message)
        case .authorizationQueryParametersError(let message): ("AuthorizationQueryParametersError", message)
        case .badDigest(let what): ("BadDigest", "The \(what) you specified did not match what was received.")
        case .entityTooLarge: ("EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
        case .entityTooSmall: ("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size.")
        case .expiredToken: ("ExpiredToken", "The provided token has expired.")
        case .incompleteBody: ("IncompleteBody", "The body ended before all of it that was announced had arrived.")
        case .internalError: ("InternalError", "An internal error occurred. Try again.")
        case .invalidAccessKeyID: ("InvalidAccessKeyId", "The access key id you provided does not exist.")
        case .invalidArgument(let message): ("InvalidArgument", message)
        case .invalidDigest: ("InvalidDigest", "The digest you specified is not valid.")
        case .invalidPart: ("InvalidPart", "One or more of the specified parts could not be found or has another ETag.")
        case .invalidPolicyDocument(let message): ("InvalidPolicyDocument", message)
        case .malformedPostRequest:
            ("MalformedPOSTRequest", "The body of your POST request is not well-formed multipart/form-data.")
        case .maxPostPreDataLengthExceeded:
            ("MaxPostPreDataLengthExceeded", "The fields that precede the upload file were too large.")
        case .invalidPartOrder: ("InvalidPartOrder", "The list of parts was not in ascending order.")
        case .invalidRange: ("InvalidRange", "The requested range is not satisfiable.")
        case .invalidRequest(let message): ("InvalidRequest", message)
        case .invalidToken: ("InvalidToken", "The provided token is malformed or otherwise not valid.")
        case .invalidURI: ("InvalidURI", "The specified URI could not be parsed.")
        case .keyTooLong: ("KeyTooLongError", "Your key is too long.")
        case .malformedXML: ("MalformedXML", "The XML you provided was not well-formed or not what was expected.")
        case .metadataTooLarge: ("MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size.")
        case .methodNotAllowed: ("MethodNotAllowed", "The specified method is not allowed against this resource.")
        case .missingContentLength: ("MissingContentLength", "You must provide the Content-Length HTTP header.")
        case .noSuchKey: ("NoSuchKey", "The specified key does not exist.")
        case .noSuchNamespace: ("NoSuchBucket", "There is no such namespace, so it has no buckets.")
        case .noSuchUpload: ("NoSuchUpload", "The specified upload does not exist: completed, aborted or never begun.")
        case .notImplemented(let message): ("NotImplemented", message)
        case .preconditionFailed: ("PreconditionFailed", "A precondition you specified did not hold.")
        case .quotaExceeded: ("QuotaExceeded", "The bucket's owner stores as much as it may; delete some first.")
        case .requestTimeTooSkewed:
            ("RequestTimeTooSkewed", "The difference between the request time and the server's time is too large.")
        case .serviceUnavailable: ("ServiceUnavailable", "Please reduce your request rate or try again later.")
        case .signatureDoesNotMatch:
            (
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided."
            )
        case .contentSHA256Mismatch:
            ("XAmzContentSHA256Mismatch", "The provided x-amz-content-sha256 header does not match what was computed.")
        }
    }

    /// Renders the error as the XML that AWS SDKs read; for HEAD, the status alone.
    func response(to request: Request, context: ScribeContext) -> Response {
        let (code, message) = codeAndMessage
        context.explanation?.note(reason: message)
        var headers: HTTPFields = [:]
        if case .fault(let answer) = self, let seconds = answer.retryAfter { headers = .retryAfter(seconds) }
        guard request.method != .head else { return Response(status: status, headers: headers) }
        var elements = [XMLElement("Code", code), XMLElement("Message", message)]
        if case .signatureDoesNotMatch(let signed?) = self {
            elements += [
                XMLElement("StringToSign", signed.stringToSign),
                XMLElement("CanonicalRequest", signed.canonicalRequest),
            ]
        }
        elements += [XMLElement("Resource", request.uri.path), XMLElement("RequestId", context.requestID)]
        var response = XMLElement("Error", elements).response(status)
        response.headers.append(contentsOf: headers)
        return response
    }

    /// Status of an error code of AWS; 500 for a code that is not known here.
    private static func status(ofCode code: String?) -> Int {
        switch code {
        case "AccessDenied", "InvalidAccessKeyId", "RequestTimeTooSkewed", "SignatureDoesNotMatch": 403
        case "NoSuchBucket", "NoSuchKey", "NoSuchUpload": 404
        case "MethodNotAllowed": 405
        case "PreconditionFailed": 412
        case "InvalidRange": 416
        case "SlowDown", "ServiceUnavailable": 503
        case "BadDigest", "EntityTooLarge", "EntityTooSmall", "ExpiredToken", "IncompleteBody", "InvalidPart",
            "InvalidRequest", "InvalidToken", "RequestTimeout":
            400
        default: 500
        }
    }

    /// Error code for a status.
    private static func code(ofStatus status: Int) -> String {
        switch status {
        case 403: "AccessDenied"
        case 404: "NoSuchKey"
        case 429, 503: "SlowDown"
        case 400..<500: "InvalidRequest"
        default: "InternalError"
        }
    }
}
