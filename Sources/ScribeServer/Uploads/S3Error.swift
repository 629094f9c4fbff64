import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain

/// The errors of S3, each with the code and status that AWS gives it.
enum S3Error: Error, Hashable, Sendable {
    case accessDenied(String)
    case authorizationHeaderMalformed(String)
    case authorizationQueryParametersError(String)
    case badDigest
    case entityTooLarge
    case expiredToken
    case incompleteBody
    case internalError
    case invalidAccessKeyID
    case invalidDigest
    case invalidRequest(String)
    case invalidToken
    case invalidURI
    case keyTooLong
    case methodNotAllowed
    case missingContentLength
    case noSuchKey
    case notImplemented(String)
    case requestTimeTooSkewed
    case serviceUnavailable
    case signatureDoesNotMatch
    case contentSHA256Mismatch

    /// 403 is for what no retry cures: the web client then gives up (C-74). Expired credentials, which fresh ones cure,
    /// are 400 as on AWS (eka-v2.md 10.3), and a full disk is 503.
    var status: HTTPResponse.Status {
        switch self {
        case .accessDenied, .invalidAccessKeyID, .requestTimeTooSkewed, .signatureDoesNotMatch: .forbidden
        case .noSuchKey: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .missingContentLength: .lengthRequired
        case .internalError: .internalServerError
        case .notImplemented: .notImplemented
        case .serviceUnavailable: .serviceUnavailable
        case .authorizationHeaderMalformed, .authorizationQueryParametersError, .badDigest, .entityTooLarge,
            .expiredToken, .incompleteBody, .invalidDigest, .invalidRequest, .invalidToken, .invalidURI, .keyTooLong,
            .contentSHA256Mismatch:
            .badRequest
        }
    }

    var codeAndMessage: (code: String, message: String) {
        switch self {
        case .accessDenied(let message): ("AccessDenied", message)
        case .authorizationHeaderMalformed(let message): ("AuthorizationHeaderMalformed", message)
        case .authorizationQueryParametersError(let message): ("AuthorizationQueryParametersError", message)
        case .badDigest: ("BadDigest", "The Content-MD5 you specified did not match what was received.")
        case .entityTooLarge: ("EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
        case .expiredToken: ("ExpiredToken", "The provided token has expired.")
        case .incompleteBody: ("IncompleteBody", "The body ended before Content-Length bytes had arrived.")
        case .internalError: ("InternalError", "An internal error occurred. Try again.")
        case .invalidAccessKeyID: ("InvalidAccessKeyId", "The access key id you provided does not exist.")
        case .invalidDigest: ("InvalidDigest", "The Content-MD5 you specified is not valid.")
        case .invalidRequest(let message): ("InvalidRequest", message)
        case .invalidToken: ("InvalidToken", "The provided token is malformed or otherwise not valid.")
        case .invalidURI: ("InvalidURI", "The specified URI could not be parsed.")
        case .keyTooLong: ("KeyTooLongError", "Your key is too long.")
        case .methodNotAllowed: ("MethodNotAllowed", "The specified method is not allowed against this resource.")
        case .missingContentLength: ("MissingContentLength", "You must provide the Content-Length HTTP header.")
        case .noSuchKey: ("NoSuchKey", "The specified key does not exist.")
        case .notImplemented(let message): ("NotImplemented", message)
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

    /// The XML that AWS SDKs read; to HEAD the status alone.
    func response(to request: Request, context: ScribeContext) -> Response {
        var headers: HTTPFields = [.amzRequestID: context.requestID]
        guard request.method != .head else { return Response(status: status, headers: headers) }
        headers[.contentType] = "application/xml"
        let (code, message) = codeAndMessage
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>
            <Error><Code>\(code)</Code><Message>\(message.xmlEscaped)</Message>\
            <Resource>\(request.uri.path.xmlEscaped)</Resource>\
            <RequestId>\(context.requestID.xmlEscaped)</RequestId></Error>
            """
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: xml)))
    }
}

extension String {
    /// Fit for XML text: marked-up characters escaped, those that XML cannot hold left out.
    fileprivate var xmlEscaped: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
