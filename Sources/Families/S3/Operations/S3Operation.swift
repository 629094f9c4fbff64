import HTTPTypes

/// Operation of a request, chosen by method and query, as in S3.
enum S3Operation: Hashable, Sendable {
    case listBuckets
    case headBucket(bucket: String)
    case listObjects(bucket: String)
    case listMultipartUploads(bucket: String)
    case putObject(S3ObjectAddress)
    case getObject(S3ObjectAddress)
    case headObject(S3ObjectAddress)
    case deleteObject(S3ObjectAddress)
    case createMultipartUpload(S3ObjectAddress)
    case uploadPart(S3ObjectAddress, uploadID: String, number: Int)
    case completeMultipartUpload(S3ObjectAddress, uploadID: String)
    case abortMultipartUpload(S3ObjectAddress, uploadID: String)
    case listParts(S3ObjectAddress, uploadID: String)

    /// Query parameters that select other S3 operations; none of these is implemented.
    private static let otherOperations: Set<String> = [
        "accelerate", "acl", "analytics", "attributes", "cors", "delete", "encryption", "intelligent-tiering",
        "inventory", "legal-hold", "lifecycle", "location", "logging", "metrics", "notification", "object-lock",
        "ownershipControls", "policy", "policyStatus", "publicAccessBlock", "replication", "requestPayment", "restore",
        "retention", "select", "tagging", "torrent", "versionId", "versioning", "versions", "website",
    ]

    /// Chooses the S3 operation of a request.
    /// - Throws: ``S3Error/notImplemented(_:)`` for other S3 operations, ``S3Error/methodNotAllowed``,
    ///   ``S3Error/invalidArgument(_:)`` for an invalid part number.
    init(_ method: HTTPRequest.Method, _ address: S3Address, _ query: SigV4Query, copies: Bool) throws(S3Error) {
        if let other = query.names.first(where: Self.otherOperations.contains) {
            throw .notImplemented("The operation '\(other)' is not implemented.")
        }
        switch address {
        case .service:
            guard method == .get || method == .head else { throw .methodNotAllowed }
            self = .listBuckets
        case .bucket(let bucket):
            switch method {
            case .head: self = .headBucket(bucket: bucket)
            case .get where query["uploads"] != nil: self = .listMultipartUploads(bucket: bucket)
            case .get: self = .listObjects(bucket: bucket)
            case .put, .delete, .post: throw .notImplemented("Buckets are there without being created or deleted.")
            default: throw .methodNotAllowed
            }
        case .object(let object):
            let uploadID = query["uploadId"]
            switch (method, uploadID) {
            case (.put, _?) where copies: throw .notImplemented("UploadPartCopy is not implemented.")
            case (.put, let id?): self = .uploadPart(object, uploadID: id, number: try Self.partNumber(query))
            case (.put, nil) where copies: throw .notImplemented("CopyObject is not implemented.")
            case (.put, nil) where query["partNumber"] != nil:
                throw .invalidArgument("This operation does not accept a part number without an uploadId.")
            case (.put, nil): self = .putObject(object)
            case (.get, let id?): self = .listParts(object, uploadID: id)
            case (.get, nil): self = .getObject(object)
            case (.head, _): self = .headObject(object)
            case (.delete, let id?): self = .abortMultipartUpload(object, uploadID: id)
            case (.delete, nil): self = .deleteObject(object)
            case (.post, let id?): self = .completeMultipartUpload(object, uploadID: id)
            case (.post, nil) where query["uploads"] != nil: self = .createMultipartUpload(object)
            default: throw .methodNotAllowed
            }
        }
    }

    private static func partNumber(_ query: SigV4Query) throws(S3Error) -> Int {
        guard let number = query["partNumber"].flatMap(Int.init), (1...10_000).contains(number) else {
            throw .invalidArgument("Part number must be an integer between 1 and 10000, inclusive")
        }
        return number
    }

    /// Whether the operation reads a body, and verifies it itself.
    var hasBody: Bool {
        switch self {
        case .putObject, .uploadPart, .completeMultipartUpload: true
        case .listBuckets, .headBucket, .listObjects, .listMultipartUploads, .getObject, .headObject, .deleteObject,
            .createMultipartUpload, .abortMultipartUpload, .listParts:
            false
        }
    }

    /// Name of the operation for the log. Never the key: keys may contain names.
    var route: String { "S3 \(name)" }

    /// Upload by an HTML form, which has no signature in its head.
    static let form = "PostObject"

    /// Names of all operations.
    static let names: [String] = {
        let object = S3ObjectAddress(bucket: "b", key: "k")
        let operations: [S3Operation] = [
            .listBuckets, .headBucket(bucket: "b"), .listObjects(bucket: "b"), .listMultipartUploads(bucket: "b"),
            .putObject(object), .getObject(object), .headObject(object), .deleteObject(object),
            .createMultipartUpload(object), .uploadPart(object, uploadID: "u", number: 1),
            .completeMultipartUpload(object, uploadID: "u"), .abortMultipartUpload(object, uploadID: "u"),
            .listParts(object, uploadID: "u"),
        ]
        return operations.map(\.name) + [form]
    }()

    /// Name of the operation, as AWS has it.
    var name: String {
        switch self {
        case .listBuckets: "ListBuckets"
        case .headBucket: "HeadBucket"
        case .listObjects: "ListObjectsV2"
        case .listMultipartUploads: "ListMultipartUploads"
        case .putObject: "PutObject"
        case .getObject: "GetObject"
        case .headObject: "HeadObject"
        case .deleteObject: "DeleteObject"
        case .createMultipartUpload: "CreateMultipartUpload"
        case .uploadPart: "UploadPart"
        case .completeMultipartUpload: "CompleteMultipartUpload"
        case .abortMultipartUpload: "AbortMultipartUpload"
        case .listParts: "ListParts"
        }
    }
}
