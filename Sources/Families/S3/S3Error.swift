import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP

/// Error of S3, with the code and status of AWS.
///
/// 403 marks errors that no retry cures: the web client then gives up (C-74). Expired credentials, which fresh ones
/// cure, are 400 as on AWS (eka.md 3.2). A full disk is 503.
struct S3Error: Error, Hashable, Sendable {
    let code: String
    let message: String
    private let status: HTTPResponse.Status
    private let headers: HTTPFields
    /// Elements of the answer beside code and message.
    private let details: [XMLElement]

    private init(
        _ code: String, _ message: String, _ status: HTTPResponse.Status = .badRequest, headers: HTTPFields = [:],
        details: [XMLElement] = []
    ) {
        (self.code, self.message, self.status, self.headers, self.details) = (code, message, status, headers, details)
    }

    static func accessDenied(_ message: String) -> S3Error { S3Error("AccessDenied", message, .forbidden) }
    static func authorizationHeaderMalformed(_ message: String) -> S3Error {
        S3Error("AuthorizationHeaderMalformed", message)
    }
    static func authorizationQueryParametersError(_ message: String) -> S3Error {
        S3Error("AuthorizationQueryParametersError", message)
    }
    static func badDigest(_ what: String) -> S3Error {
        S3Error("BadDigest", "The \(what) you specified did not match what was received.")
    }
    static let bucketAlreadyOwned = S3Error(
        "BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you own it.",
        .conflict)
    static let bucketNotEmpty = S3Error("BucketNotEmpty", "The bucket you tried to delete is not empty.", .conflict)
    static let contentSHA256Mismatch = S3Error(
        "XAmzContentSHA256Mismatch", "The provided x-amz-content-sha256 header does not match what was computed.")
    static let entityTooLarge = S3Error(
        "EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
    static let entityTooSmall = S3Error(
        "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size.")
    static let expiredToken = S3Error("ExpiredToken", "The provided token has expired.")
    static func illegalLocationConstraint(_ region: String) -> S3Error {
        S3Error(
            "IllegalLocationConstraintException",
            "The \(region) location constraint is incompatible for the region specific endpoint this request was "
                + "sent to.")
    }
    static let incompleteBody = S3Error(
        "IncompleteBody", "The body ended before all of it that was announced had arrived.")
    static let internalError = S3Error(
        "InternalError", "An internal error occurred. Try again.", .internalServerError)
    static let invalidAccessKeyID = S3Error(
        "InvalidAccessKeyId", "The access key id you provided does not exist.", .forbidden)
    static func invalidArgument(_ message: String) -> S3Error { S3Error("InvalidArgument", message) }
    static let invalidDigest = S3Error("InvalidDigest", "The digest you specified is not valid.")
    static let invalidPart = S3Error(
        "InvalidPart", "One or more of the specified parts could not be found or has another ETag.")
    static let invalidPartNumber = S3Error(
        "InvalidPartNumber", "The requested partnumber is not satisfiable", .rangeNotSatisfiable)
    static let invalidPartOrder = S3Error("InvalidPartOrder", "The list of parts was not in ascending order.")
    static func invalidPolicyDocument(_ message: String) -> S3Error { S3Error("InvalidPolicyDocument", message) }
    /// A range that no byte of the object is in.
    /// - Parameter requested: The header, as sent.
    static func invalidRange(_ requested: String, of size: Int) -> S3Error {
        S3Error(
            "InvalidRange", "The requested range is not satisfiable.", .rangeNotSatisfiable,
            headers: [.contentRange: "bytes */\(size)"],
            details: [XMLElement("RangeRequested", requested), XMLElement("ActualObjectSize", String(size))])
    }
    static func invalidRequest(_ message: String) -> S3Error { S3Error("InvalidRequest", message) }
    static let invalidToken = S3Error("InvalidToken", "The provided token is malformed or otherwise not valid.")
    static let invalidURI = S3Error("InvalidURI", "The specified URI could not be parsed.")
    static let keyTooLong = S3Error("KeyTooLongError", "Your key is too long.")
    static let malformedPostRequest = S3Error(
        "MalformedPOSTRequest", "The body of your POST request is not well-formed multipart/form-data.")
    static let malformedTrailer = S3Error(
        "MalformedTrailerError",
        "The request contained trailing data that was not well-formed or did not conform.")
    static let malformedXML = S3Error(
        "MalformedXML", "The XML you provided was not well-formed or not what was expected.")
    static let maxPostPreDataLengthExceeded = S3Error(
        "MaxPostPreDataLengthExceeded", "The fields that precede the upload file were too large.")
    static let metadataTooLarge = S3Error(
        "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size.")
    static let methodNotAllowed = S3Error(
        "MethodNotAllowed", "The specified method is not allowed against this resource.", .methodNotAllowed)
    static let missingContentLength = S3Error(
        "MissingContentLength", "You must provide the Content-Length HTTP header.", .lengthRequired)
    static let noSuchKey = S3Error("NoSuchKey", "The specified key does not exist.", .notFound)
    static let noSuchNamespace = S3Error(
        "NoSuchBucket", "There is no such namespace, so it has no buckets.", .notFound)
    static let noSuchTagSet = S3Error("NoSuchTagSet", "The TagSet does not exist", .notFound)
    static let noSuchUpload = S3Error(
        "NoSuchUpload", "The specified upload does not exist: completed, aborted or never begun.", .notFound)
    static func notImplemented(_ message: String) -> S3Error { S3Error("NotImplemented", message, .notImplemented) }
    static let preconditionFailed = S3Error(
        "PreconditionFailed", "A precondition you specified did not hold.", .preconditionFailed)
    static let quotaExceeded = S3Error(
        "QuotaExceeded", "The bucket's owner stores as much as it may; delete some first.", .forbidden)
    static let requestTimeTooSkewed = S3Error(
        "RequestTimeTooSkewed", "The difference between the request time and the server's time is too large.",
        .forbidden)
    static let serviceUnavailable = S3Error(
        "ServiceUnavailable", "Please reduce your request rate or try again later.", .serviceUnavailable)
    /// - Parameter signed: The strings that the server signed, if the client may see them.
    static func signatureDoesNotMatch(_ signed: SigV4.Signed? = nil) -> S3Error {
        S3Error(
            "SignatureDoesNotMatch",
            "The request signature we calculated does not match the signature you provided.", .forbidden,
            details: signed.map {
                [XMLElement("StringToSign", $0.stringToSign), XMLElement("CanonicalRequest", $0.canonicalRequest)]
            } ?? [])
    }
    /// The region of the signature is not that of the bucket.
    static func wrongRegion(_ region: String) -> S3Error {
        S3Error(
            "AuthorizationHeaderMalformed",
            "The authorization header is malformed; the region '\(region)' is wrong; expecting "
                + "'\(SigningScope.region)'",
            headers: [.amzBucketRegion: SigningScope.region],
            details: [XMLElement("Region", SigningScope.region)])
    }

    /// An error that a fault rule makes.
    static func fault(_ answer: FaultAnswer) -> S3Error {
        S3Error(
            answer.code ?? Self.code(ofStatus: answer.status ?? 500), FaultRefusal(answer).message,
            .init(code: answer.status ?? Self.status(ofCode: answer.code)),
            headers: answer.retryAfter.map { .retryAfter($0) } ?? [:])
    }

    /// Renders the error as the XML that AWS SDKs read; for HEAD, the status alone.
    func response(to request: Request, context: ScribeContext) -> Response {
        let isOfFields = message.hasPrefix(PostPolicy.extraFields)
        context.explanation?.note(reason: isOfFields ? PostPolicy.extraFields : message)
        var headers = headers
        guard request.method != .head else {
            // A client may learn the region of a bucket by its first HEAD, whatever comes of it.
            if case .bucket? = try? S3Address(host: request.authority, path: request.uri.path) {
                headers[.amzBucketRegion] = SigningScope.region
            }
            return Response(status: status, headers: headers)
        }
        let elements =
            [XMLElement("Code", code), XMLElement("Message", message)] + details
            + [XMLElement("Resource", request.uri.path), XMLElement("RequestId", context.requestID)]
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
