package import HTTPTypes

/// Header names of the emulated APIs that HTTPTypes does not define.
extension HTTPField.Name {
    /// The header with a name that is known to be valid.
    package static func named(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is no header name") }
        return field
    }

    package static let auth = named("auth")
    package static let clientID = named("client-id")
    package static let flavour = named("flavour")
    package static let version = named("version")
    package static let requestID = named("x-request-id")
    package static let traceParent = named("traceparent")
    package static let amzBucketRegion = named("x-amz-bucket-region")
    package static let amzChecksumAlgorithm = named("x-amz-checksum-algorithm")
    package static let amzChecksumMode = named("x-amz-checksum-mode")
    package static let amzChecksumType = named("x-amz-checksum-type")
    package static let amzContentSHA256 = named("x-amz-content-sha256")
    package static let amzCopySource = named("x-amz-copy-source")
    package static let amzCopySourceRange = named("x-amz-copy-source-range")
    package static let amzDecodedContentLength = named("x-amz-decoded-content-length")
    package static let amzMetadataDirective = named("x-amz-metadata-directive")
    package static let amzObjectSize = named("x-amz-mp-object-size")
    package static let amzPartsCount = named("x-amz-mp-parts-count")
    package static let amzRequestID = named("x-amz-request-id")
    package static let amzSDKChecksumAlgorithm = named("x-amz-sdk-checksum-algorithm")
    package static let amzSecurityToken = named("x-amz-security-token")
    package static let amzTrailer = named("x-amz-trailer")
    package static let allowPrivateNetwork = named("access-control-allow-private-network")
    package static let requestPrivateNetwork = named("access-control-request-private-network")
    /// Marks requests of operators' pages: no form, link or image can send it.
    package static let scribeAdmin = named("x-scribe-admin")
    /// Namespace of a request.
    package static let scribeNamespace = named("x-scribe-namespace")
    /// Fault that a request asks for itself.
    package static let scribeFault = named("x-scribe-fault")
    /// Rules that were applied to an answer.
    package static let scribeFaultApplied = named("x-scribe-fault-applied")
    /// Number of parts of a request that do not fit the contract.
    static let scribeFindings = named("x-scribe-findings")
    /// Marks requests of the console's scripts, with the token in the head of its pages.
    package static let scribeConsole = named("x-scribe-console")
    /// Text to search for, percent-encoded: names of patients do not belong into addresses.
    package static let scribeSearch = named("x-scribe-search")
    package static let crossOriginOpenerPolicy = named("cross-origin-opener-policy")
    package static let referrerPolicy = named("referrer-policy")
    package static let secFetchDest = named("sec-fetch-dest")
    package static let secFetchMode = named("sec-fetch-mode")
    package static let secFetchSite = named("sec-fetch-site")
    package static let forwardedFor = named("x-forwarded-for")
    package static let forwardedHost = named("x-forwarded-host")
    package static let forwardedProto = named("x-forwarded-proto")
    /// `no` keeps nginx from buffering a stream.
    package static let accelBuffering = named("x-accel-buffering")
    /// Format of a run's answer: `ag-ui` for a stream of events, otherwise an immediate answer.
    package static let protocolName = named("x-protocol")
    package static let contentTypeOptions = named("x-content-type-options")
    package static let contentMD5 = named("content-md5")
}
