package import ScribeHTTP

/// Registers the S3 object API with a server: bucket host names and the family.
package struct S3Contribution: FamilyContribution {
    package let name = "S3"
    package let hosts = [
        HostGroup(
            title: "its buckets at S3",
            names: S3Family.buckets.flatMap { bucket in
                (S3Family.hostNames + S3Family.otherBucketParents).map { "\(bucket).\($0)" }
            },
            servesAllPaths: false)
    ]
    private let explainsSignatures: Bool

    /// - Parameter explainsSignatures: Whether a `SignatureDoesNotMatch` answer shows the strings that the server
    ///   signed.
    package init(explainsSignatures: Bool) { self.explainsSignatures = explainsSignatures }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily([S3Family(explainsSignatures: explainsSignatures)])
    }
}
