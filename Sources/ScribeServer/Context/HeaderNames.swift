import HTTPTypes

/// The headers of these APIs that HTTP itself does not know.
extension HTTPField.Name {
    private static func named(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is no header name") }
        return field
    }

    static let auth = named("auth")
    static let flavour = named("flavour")
    static let requestID = named("x-request-id")
    static let amzBucketRegion = named("x-amz-bucket-region")
    static let amzContentSHA256 = named("x-amz-content-sha256")
    static let amzDate = named("x-amz-date")
    static let amzRequestID = named("x-amz-request-id")
    static let amzSecurityToken = named("x-amz-security-token")
    static let contentMD5 = named("content-md5")
}
