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
    case bucketAlreadyOwned
    case bucketNotEmpty
    case entityTooLarge
    case entityTooSmall
    case expiredToken
    case illegalLocationConstraint(String)
    case incompleteBody
    case internalError
    case invalidAccessKeyID
    case invalidArgument(String)
    case invalidDigest
    case invalidPart
    case invalidPartNumber
    case invalidPolicyDocument(String)
    case invalidPartOrder
    case invalidRange(Range)
    case invalidRequest(String)
    case invalidToken
    case invalidURI
    case keyTooLong
    case malformedPostRequest
    case malformedTrailer
    case malformedXML
    case maxPostPreDataLengthExceeded
    case metadataTooLarge
    case methodNotAllowed
    case missingContentLength
    case noSuchKey
    case noSuchNamespace
    case noSuchTagSet
    case noSuchUpload
    case notImplemented(String)
    case preconditionFailed
    case quotaExceeded
    case requestTimeTooSkewed
    case serviceUnavailable
    /// With the strings that the server signed, if the client may see them.
    case signatureDoesNotMatch(SigV4.Signed? = nil)
    case contentSHA256Mismatch
    /// The region of the signature is not that of the bucket.
    case wrongRegion(String)
    /// An error that a fault rule makes.
    case fault(FaultAnswer)

    /// A range that no byte of the object is in.
    struct Range: Hashable, Sendable {
        /// The header, as sent.
        let requested: String
        /// Size of the object in bytes.
        let size: Int
    }

    /// The status of the answer.
    ///
    /// 403 marks errors that no retry cures: the web client then gives up (C-74). Expired credentials, which fresh ones
    /// cure, are 400 as on AWS (eka.md 3.2). A full disk is 503.
    var status: HTTPResponse.Status {
        switch self {
        case .fault(let answer): .init(code: answer.status ?? Self.status(ofCode: answer.code))
        case .accessDenied, .invalidAccessKeyID, .quotaExceeded, .requestTimeTooSkewed, .signatureDoesNotMatch:
            .forbidden
        case .bucketAlreadyOwned, .bucketNotEmpty: .conflict
        case .noSuchKey, .noSuchNamespace, .noSuchTagSet, .noSuchUpload: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .missingContentLength: .lengthRequired
        case .invalidPartNumber, .invalidRange: .rangeNotSatisfiable
        case .preconditionFailed: .preconditionFailed
        case .internalError: .internalServerError
        case .notImplemented: .notImplemented
        case .serviceUnavailable: .serviceUnavailable
        case .authorizationHeaderMalformed, .authorizationQueryParametersError, .badDigest, .entityTooLarge,
            .entityTooSmall, .expiredToken, .incompleteBody, .invalidArgument, .invalidDigest, .invalidPart,
            .invalidPartOrder, .invalidRequest, .invalidToken, .invalidURI, .keyTooLong, .malformedXML,
            .contentSHA256Mismatch, .invalidPolicyDocument, .malformedPostRequest, .maxPostPreDataLengthExceeded,
            .metadataTooLarge, .illegalLocationConstraint, .malformedTrailer, .wrongRegion:
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
        case .bucketAlreadyOwned:
            ("BucketAlreadyOwnedByYou", "Your previous request to create the named bucket succeeded and you own it.")
        case .bucketNotEmpty: ("BucketNotEmpty", "The bucket you tried to delete is not empty.")
        case .entityTooLarge: ("EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
        case .entityTooSmall: ("EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size.")
        case .expiredToken: ("ExpiredToken", "The provided token has expired.")
        case .illegalLocationConstraint(let region):
            (
                "IllegalLocationConstraintException",
                "The \(region) location constraint is incompatible for the region specific endpoint this request was "
                    + "sent to."
            )
        case .incompleteBody: ("IncompleteBody", "The body ended before all of it that was announced had arrived.")
        case .internalError: ("InternalError", "An internal error occurred. Try again.")
        case .invalidAccessKeyID: ("InvalidAccessKeyId", "The access key id you provided does not exist.")
        case .invalidArgument(let message): ("InvalidArgument", message)
        case .invalidDigest: ("InvalidDigest", "The digest you specified is not valid.")
        case .invalidPart: ("InvalidPart", "One or more of the specified parts could not be found or has another ETag.")
        case .invalidPartNumber: ("InvalidPartNumber", "The requested partnumber is not satisfiable")
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
        case .malformedTrailer:
            (
                "MalformedTrailerError",
                "The request contained trailing data that was not well-formed or did not conform."
            )
        case .malformedXML: ("MalformedXML", "The XML you provided was not well-formed or not what was expected.")
        case .metadataTooLarge: ("MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size.")
        case .methodNotAllowed: ("MethodNotAllowed", "The specified method is not allowed against this resource.")
        case .missingContentLength: ("MissingContentLength", "You must provide the Content-Length HTTP header.")
        case .noSuchKey: ("NoSuchKey", "The specified key does not exist.")
        case .noSuchNamespace: ("NoSuchBucket", "There is no such namespace, so it has no buckets.")
        case .noSuchTagSet: ("NoSuchTagSet", "The TagSet does not exist")
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
        case .wrongRegion(let region):
            (
                "AuthorizationHeaderMalformed",
                "The authorization header is malformed; the region '\(region)' is wrong; expecting "
                    + "'\(SigningScope.region)'"
            )
        case .contentSHA256Mismatch:
            ("XAmzContentSHA256Mismatch", "The provided x-amz-content-sha256 header does not match what was computed.")
        }
    }

    /// Renders the error as the XML that AWS SDKs read; for HEAD, the status alone.
    func response(to request: Request, context: ScribeContext) -> Response {
        let (code, message) = codeAndMessage
        let isOfFields = message.hasPrefix(PostPolicy.extraFields)
        context.explanation?.note(reason: isOfFields ? PostPolicy.extraFields : message)
        var headers: HTTPFields = [:]
        var elements = [XMLElement("Code", code), XMLElement("Message", message)]
        switch self {
        case .fault(let answer): if let seconds = answer.retryAfter { headers = .retryAfter(seconds) }
        case .invalidRange(let range):
            headers[.contentRange] = "bytes */\(range.size)"
            elements += [
                XMLElement("RangeRequested", range.requested), XMLElement("ActualObjectSize", String(range.size)),
            ]
        case .signatureDoesNotMatch(let signed?):
            elements += [
                XMLElement("StringToSign", signed.stringToSign),
                XMLElement("CanonicalRequest", signed.canonicalRequest),
            ]
        case .wrongRegion:
            headers[.amzBucketRegion] = SigningScope.region
            elements.append(XMLElement("Region", SigningScope.region))
        default: break
        }
        guard request.method != .head else {
            // A client may learn the region of a bucket by its first HEAD, whatever comes of it.
            if case .bucket? = try? S3Address(host: request.authority, path: request.uri.path) {
                headers[.amzBucketRegion] = SigningScope.region
            }
            return Response(status: status, headers: headers)
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
