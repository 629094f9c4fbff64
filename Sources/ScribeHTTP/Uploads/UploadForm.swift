import Basics
import Crypto
package import Foundation
package import ScribeDomain

/// Builds a presigned S3 POST form for uploads to one folder.
package struct UploadForm: Sendable {
    /// Validity of the form, in seconds.
    private static let lifetime: TimeInterval = 3 * 60 * 60
    /// Largest uploaded file, in bytes.
    private static let largestFile = 500 << 20

    /// Text fields that the form must send beside the file.
    package let fields: [String: String]

    /// - Parameters:
    ///   - folder: Key prefix of the files, with a trailing slash.
    ///   - metadata: Stored with each file.
    ///   - now: The machine's clock.
    package init(
        bucket: String, folder: String, metadata: [String: String], for principal: Principal,
        credentials: UploadCredentials, at now: Date
    ) async throws {
        let issued = try await credentials.issue(to: principal, isForForm: true)
        let timestamp = SigningScope.timestamp(of: now)
        let scope = SigningScope(accessKeyID: issued.accessKeyID, day: String(timestamp.prefix(8)))
        var fields = [
            "x-amz-algorithm": SigningScope.algorithm, "x-amz-credential": scope.credential,
            "x-amz-date": timestamp, "x-amz-security-token": issued.sessionToken,
        ]
        for (name, value) in metadata { fields["x-amz-meta-\(name)"] = value }
        let policy = Self.policy(
            fields, bucket: bucket, folder: folder, expiration: now.addingTimeInterval(Self.lifetime))
        let signature = HMAC<SHA256>.authenticationCode(
            for: Data(policy.utf8), using: scope.signingKey(secret: issued.secretKey))
        fields["key"] = folder + "${filename}"
        fields["policy"] = policy
        fields["x-amz-signature"] = Hex.encode(signature)
        self.fields = fields
    }

    /// Policy for any number of files of any type in the folder: some clients upload several with one form.
    private static func policy(
        _ fields: [String: String], bucket: String, folder: String, expiration: Date
    ) -> String {
        let conditions: [JSON] = [
            ["bucket": .string(bucket)], ["starts-with", "$key", .string(folder)],
            ["starts-with", "$Content-Type", ""], ["starts-with", "$success_action_status", ""],
            ["content-length-range", 0, .integer(largestFile)],
        ]
        let named = fields.sorted { $0.key < $1.key }.map { [$0.key: .string($0.value)] as JSON }
        let policy: JSON = ["expiration": .string(expiration.apiTime), "conditions": .array(named + conditions)]
        return Data(policy.bytes).base64EncodedString()
    }
}
