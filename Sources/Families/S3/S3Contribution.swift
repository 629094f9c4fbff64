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
    private let isRegionStrict: Bool

    /// - Parameters:
    ///   - explainsSignatures: Whether a `SignatureDoesNotMatch` answer shows the strings that the server signed.
    ///   - isRegionStrict: Whether a signature for another region is refused.
    package init(explainsSignatures: Bool, isRegionStrict: Bool) {
        self.explainsSignatures = explainsSignatures
        self.isRegionStrict = isRegionStrict
    }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        let settings = S3Family.Settings(
            origin: environment.origin, explainsSignatures: explainsSignatures, isRegionStrict: isRegionStrict)
        return ComposedFamily([S3Family(settings)])
    }
}
