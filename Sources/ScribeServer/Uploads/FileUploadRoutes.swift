import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import ScribeDomain

/// `POST /v1/file-upload`: a form, signed beforehand, with which whole files are uploaded (eka-v2.md 2.12).
struct FileUploadRoutes: Sendable {
    /// How long a form can be used, in seconds.
    private static let lifetime: TimeInterval = 3 * 60 * 60
    private static let largestFile = 500 << 20

    let credentials: UploadCredentials
    let fidelity: Fidelity
    let identifiers: IdentifierSource
    let clock: ScribeClock

    func add(to router: RouterGroup<ScribeContext>) {
        router.post("v1/file-upload", use: presign)
    }

    /// What a caller tells of the files; kept with them where it is text.
    private struct Body: Decodable {
        var metadata: [String: String] = [:]

        init() {}

        init(from decoder: any Decoder) throws {
            guard case .object(let members) = try JSONValue(from: decoder) else {
                throw DecodingError.typeMismatch(
                    [String: JSONValue].self, .init(codingPath: [], debugDescription: "no object"))
            }
            for name in ["mode", "uhid", "hfid"] {
                if let text = members[name]?.stringValue, text.isPlain, text.allSatisfy(\.isASCII) {
                    metadata[name] = text
                }
            }
        }
    }

    private struct Answer: Encodable {
        struct Upload: Encodable {
            let url: String
            let fields: [String: String]
        }

        let uploadData: Upload
        let folderPath: String
        let transaction: String

        enum CodingKeys: String, CodingKey {
            case uploadData, folderPath
            case transaction = "txn_id"
        }
    }

    @Sendable private func presign(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let query = request.uri.queryParameters
        let transaction = try transaction(query["txn_id"].map(String.init))
        let action = query["action"].map(String.init) ?? ""
        if fidelity == .documentation, action != "ekascribe-v2" {
            throw ScribeError.invalidRequest(field: "action", problem: "must be ekascribe-v2 (--strict-docs)")
        }
        let body = try await request.decodeOptionalJSON(as: Body.self, in: context) ?? Body()
        let now = clock.now
        let timestamp = SigV4.timestamp(of: now)
        let folder =
            "\(principal.client)/\(transaction)/\(timestamp.prefix(8))_\(timestamp.dropFirst(9).prefix(6))/"
        let issued = try await credentials.issue(to: principal)
        guard
            let scope = SigV4.Scope(
                "\(issued.accessKeyID)/\(timestamp.prefix(8))/\(S3Responder.region)/s3/aws4_request")
        else { throw S3Error.internalError }
        var fields = [
            "x-amz-algorithm": SigV4.algorithm, "x-amz-credential": "\(issued.accessKeyID)/\(scope.text)",
            "x-amz-date": timestamp, "x-amz-security-token": issued.sessionToken,
        ]
        for (name, value) in body.metadata { fields["x-amz-meta-\(name)"] = value }
        if Self.startsByManifest(action) { fields["x-amz-meta-action"] = action }
        let policy = try policy(fields, folder: folder, expiration: now.addingTimeInterval(Self.lifetime))
        let signature = HMAC<SHA256>.authenticationCode(
            for: Data(policy.utf8), using: scope.signingKey(secret: issued.secretKey))
        fields["key"] = folder + "${filename}"
        fields["policy"] = policy
        fields["x-amz-signature"] = Hex.encode(signature)
        return try .json(
            .ok,
            Answer(
                uploadData: .init(url: Self.bucketURL(for: request), fields: fields), folderPath: folder,
                transaction: transaction))
    }

    /// Version 1 of the API knows no init: a manifest among the files starts the transaction.
    static func startsByManifest(_ action: String?) -> Bool { action == "ekascribe" }

    /// An id of the caller's choice, or, as the .NET SDK sends none, a fresh one (C-61).
    private func transaction(_ wanted: String?) throws -> String {
        guard let wanted, !wanted.isEmpty else {
            if fidelity == .documentation {
                throw ScribeError.invalidRequest(field: "txn_id", problem: "is required (--strict-docs)")
            }
            return identifiers.uuid()
        }
        guard TransactionID.isValidFolder(wanted) else {
            throw ScribeError.invalidRequest(field: "txn_id", problem: "is not a transaction id")
        }
        return wanted
    }

    /// Any file in the folder, of any type, as often as is needed: some clients upload several with one form.
    private func policy(_ fields: [String: String], folder: String, expiration: Date) throws -> String {
        var conditions: [JSONValue] = fields.sorted { $0.key < $1.key }.map { .object([$0.key: .string($0.value)]) }
        conditions += [
            .object(["bucket": .string(AudioLocation.batchBucket)]),
            .array([.string("starts-with"), .string("$key"), .string(folder)]),
            .array([.string("starts-with"), .string("$Content-Type"), .string("")]),
            .array([.string("starts-with"), .string("$success_action_status"), .string("")]),
            .array([.string("content-length-range"), .integer(0), .integer(Int64(Self.largestFile))]),
        ]
        let policy = JSONValue.object(["expiration": .string(expiration.apiTime), "conditions": .array(conditions)])
        return try JSONEncoder().encode(policy).base64EncodedString()
    }

    /// Where the form goes. Whoever has reached the server by one of the vendor's names reaches it by AWS's too, and
    /// gets what the vendor sends (C-60); anyone else gets what is sure to lead back here.
    private static func bucketURL(for request: Request) -> String {
        if request.isAtVendorHost { return "https://\(AudioLocation.batchBucket).s3.amazonaws.com/" }
        let scheme = request.headers[.forwardedProto]?.lowercased() == "https" ? "https" : "http"
        return "\(scheme)://\(request.authority)/\(AudioLocation.batchBucket)/"
    }
}

extension SigV4 {
    /// A time as signatures spell it.
    static func timestamp(of date: Date) -> String {
        date.apiTime.filter { $0 != "-" && $0 != ":" }
    }
}

/// `{"error": …, "code": …}`, the shape that the upload's documentation gives.
struct FileUploadErrors: ErrorStyle {
    private struct Body: Encodable {
        let error: String
        let code: String
        let message: String
    }

    func response(to error: ScribeError, context: ScribeContext) throws -> Response {
        switch error {
        case .invalidRequest(let field, let problem):
            try answer(.badRequest, "INVALID_REQUEST", sentence(on: field, problem))
        case .bodyTooLarge(let limit):
            try answer(.contentTooLarge, "INVALID_REQUEST", "The body is larger than \(limit) bytes")
        case .unauthenticated, .invalidClient, .refreshRefused, .audioLocationRequired, .batchLocationRequired,
            .transactionLimitExceeded, .storageQuotaExceeded, .transactionAlreadyInitialized, .transactionNotFound,
            .polledTransactionNotFound, .transactionCancelled, .transactionNeverCommitted, .resultNotFound,
            .invalidState, .resourceNotFound, .feedbackAlreadySubmitted, .refusedByFixture, .routeNotFound,
            .methodNotAllowed, .busy, .tooManyAttempts,
            .storageUnavailable:
            try EkaErrors().response(to: error, context: context)
        }
    }

    func internalError(context: ScribeContext) throws -> Response {
        try answer(.internalServerError, "SERVER_ERROR", apology(context))
    }

    private func answer(_ status: HTTPResponse.Status, _ code: String, _ message: String) throws -> Response {
        try .json(status, Body(error: message, code: code, message: message))
    }
}
