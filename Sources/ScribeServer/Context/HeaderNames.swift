import HTTPTypes

/// The headers of these APIs that HTTP itself does not know.
extension HTTPField.Name {
    private static func named(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is no header name") }
        return field
    }

    static let auth = named("auth")
    static let clientID = named("client-id")
    static let flavour = named("flavour")
    static let version = named("version")
    static let requestID = named("x-request-id")
    static let amzBucketRegion = named("x-amz-bucket-region")
    static let amzChecksumCRC32 = named("x-amz-checksum-crc32")
    static let amzChecksumCRC32C = named("x-amz-checksum-crc32c")
    static let amzChecksumCRC64NVME = named("x-amz-checksum-crc64nvme")
    static let amzChecksumSHA1 = named("x-amz-checksum-sha1")
    static let amzChecksumSHA256 = named("x-amz-checksum-sha256")
    static let amzContentSHA256 = named("x-amz-content-sha256")
    static let amzCopySource = named("x-amz-copy-source")
    static let amzDecodedContentLength = named("x-amz-decoded-content-length")
    static let amzRequestID = named("x-amz-request-id")
    static let amzSecurityToken = named("x-amz-security-token")
    static let amzTrailer = named("x-amz-trailer")
    static let allowPrivateNetwork = named("access-control-allow-private-network")
    static let requestPrivateNetwork = named("access-control-request-private-network")
    static let forwardedProto = named("x-forwarded-proto")
    static let contentMD5 = named("content-md5")
}
