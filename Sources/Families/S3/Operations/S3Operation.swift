import HTTPTypes

/// Operation of a request, chosen by method and query, as in S3.
enum S3Operation: Hashable, Sendable {
    case listBuckets
    case createBucket(bucket: String)
    case deleteBucket(bucket: String)
    case headBucket(bucket: String)
    case bucketDefault(S3Default, bucket: String)
    case listObjects(bucket: String)
    case listMultipartUploads(bucket: String)
    case deleteObjects(bucket: String)
    case putObject(S3ObjectAddress)
    case copyObject(S3ObjectAddress)
    case getObject(S3ObjectAddress)
    case headObject(S3ObjectAddress)
    case deleteObject(S3ObjectAddress)
    case objectDefault(S3Default, S3ObjectAddress)
    case createMultipartUpload(S3ObjectAddress)
    case uploadPart(S3ObjectAddress, uploadID: String, number: Int)
    case uploadPartCopy(S3ObjectAddress, uploadID: String, number: Int)
    case completeMultipartUpload(S3ObjectAddress, uploadID: String)
    case abortMultipartUpload(S3ObjectAddress, uploadID: String)
    case listParts(S3ObjectAddress, uploadID: String)

    /// Query parameters that select other S3 operations; none of these is implemented.
    private static let otherOperations: Set<String> = [
        "accelerate", "analytics", "attributes", "cors", "encryption", "intelligent-tiering", "inventory",
        "legal-hold", "lifecycle", "logging", "metrics", "notification", "object-lock", "ownershipControls", "policy",
        "policyStatus", "publicAccessBlock", "replication", "requestPayment", "restore", "retention", "select",
        "torrent", "versionId", "versions", "website",
    ]

    /// Chooses the S3 operation of a request.
    /// - Throws: ``S3Error/notImplemented(_:)`` for other S3 operations, ``S3Error/methodNotAllowed``,
    ///   ``S3Error/invalidArgument(_:)`` for an invalid part number.
    init(_ method: HTTPRequest.Method, _ address: S3Address, _ query: SigV4Query, copies: Bool) throws(S3Error) {
        let names = query.names
        if let other = names.first(where: Self.otherOperations.contains) {
            throw .notImplemented("The operation '\(other)' is not implemented.")
        }
        let wanted = names.lazy.compactMap(S3Default.init(rawValue:)).first
        if let wanted, method != .get { throw .notImplemented("The operation '\(wanted.rawValue)' is only read.") }
        switch address {
        case .service:
            guard method == .get || method == .head else { throw .methodNotAllowed }
            self = .listBuckets
        case .bucket(let bucket):
            switch method {
            case .head: self = .headBucket(bucket: bucket)
            case .get: self = Self.read(bucket, wanted, listsUploads: query["uploads"] != nil)
            case .put: self = .createBucket(bucket: bucket)
            case .post where query["delete"] != nil: self = .deleteObjects(bucket: bucket)
            case .delete: self = .deleteBucket(bucket: bucket)
            default: throw .methodNotAllowed
            }
        case .object(let object):
            if let wanted {
                guard wanted.isOfObjects else { throw .methodNotAllowed }
                self = .objectDefault(wanted, object)
                return
            }
            let uploadID = query["uploadId"]
            switch (method, uploadID) {
            case (.put, let id?) where copies:
                self = .uploadPartCopy(object, uploadID: id, number: try Self.partNumber(query))
            case (.put, let id?): self = .uploadPart(object, uploadID: id, number: try Self.partNumber(query))
            case (.put, nil) where query["partNumber"] != nil:
                throw .invalidArgument("This operation does not accept a part number without an uploadId.")
            case (.put, nil): self = copies ? .copyObject(object) : .putObject(object)
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

    private static func read(_ bucket: String, _ wanted: S3Default?, listsUploads: Bool) -> Self {
        if let wanted { return .bucketDefault(wanted, bucket: bucket) }
        return listsUploads ? .listMultipartUploads(bucket: bucket) : .listObjects(bucket: bucket)
    }

    /// Reads the number of a part.
    /// - Throws: ``S3Error/invalidArgument(_:)``.
    static func partNumber(_ query: SigV4Query) throws(S3Error) -> Int {
        guard let number = query["partNumber"].flatMap(Int.init), (1...10_000).contains(number) else {
            throw .invalidArgument("Part number must be an integer between 1 and 10000, inclusive")
        }
        return number
    }

    /// Whether the operation reads a body, and verifies it itself.
    var hasBody: Bool {
        switch self {
        case .createBucket, .deleteObjects, .putObject, .uploadPart, .completeMultipartUpload: true
        case .listBuckets, .deleteBucket, .headBucket, .bucketDefault, .listObjects, .listMultipartUploads, .copyObject,
            .getObject,
            .headObject, .deleteObject, .objectDefault, .createMultipartUpload, .uploadPartCopy, .abortMultipartUpload,
            .listParts:
            false
        }
    }

    /// Whether a client asks for the region itself, which no region may make impossible.
    var tellsRegion: Bool {
        switch self {
        case .headBucket, .bucketDefault(.location, _): true
        default: false
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
            .listBuckets, .createBucket(bucket: "b"), .deleteBucket(bucket: "b"), .headBucket(bucket: "b"),
            .listObjects(bucket: "b"),
            .listMultipartUploads(bucket: "b"), .deleteObjects(bucket: "b"), .putObject(object), .copyObject(object),
            .getObject(object), .headObject(object), .deleteObject(object), .createMultipartUpload(object),
            .uploadPart(object, uploadID: "u", number: 1), .uploadPartCopy(object, uploadID: "u", number: 1),
            .completeMultipartUpload(object, uploadID: "u"), .abortMultipartUpload(object, uploadID: "u"),
            .listParts(object, uploadID: "u"),
        ]
        let defaults =
            S3Default.allCases.map { Self.bucketDefault($0, bucket: "b") }
            + S3Default.allCases.filter(\.isOfObjects).map { .objectDefault($0, object) }
        return (operations + defaults).map(\.name) + [form]
    }()

    /// Name of the operation, as AWS has it.
    var name: String {
        switch self {
        case .listBuckets: "ListBuckets"
        case .createBucket: "CreateBucket"
        case .deleteBucket: "DeleteBucket"
        case .headBucket: "HeadBucket"
        case .bucketDefault(let wanted, _): "GetBucket\(wanted.word)"
        case .listObjects: "ListObjectsV2"
        case .listMultipartUploads: "ListMultipartUploads"
        case .deleteObjects: "DeleteObjects"
        case .putObject: "PutObject"
        case .copyObject: "CopyObject"
        case .getObject: "GetObject"
        case .headObject: "HeadObject"
        case .deleteObject: "DeleteObject"
        case .objectDefault(let wanted, _): "GetObject\(wanted.word)"
        case .createMultipartUpload: "CreateMultipartUpload"
        case .uploadPart: "UploadPart"
        case .uploadPartCopy: "UploadPartCopy"
        case .completeMultipartUpload: "CompleteMultipartUpload"
        case .abortMultipartUpload: "AbortMultipartUpload"
        case .listParts: "ListParts"
        }
    }
}

/// Property of buckets or objects that ordinary tools read, and that always has S3's default here.
enum S3Default: String, Hashable, Sendable, CaseIterable {
    case acl, location, tagging, versioning

    /// Whether objects have it too.
    var isOfObjects: Bool { self == .acl || self == .tagging }

    /// The property's part of the operation's name.
    var word: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}
