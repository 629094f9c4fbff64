package import ScribeHTTP

/// What the object API brings to a server.
package struct S3Contribution: FamilyContribution {
    package let hosts = [
        HostGroup(
            title: "its buckets at S3",
            names: S3Family.buckets.flatMap { bucket in S3Family.hostNames.map { "\(bucket).\($0)" } },
            servesAllPaths: false)
    ]
    private let explainsSignatures: Bool

    /// - Parameter explainsSignatures: whether a client learns what the server has signed when its own signature does
    ///   not match.
    package init(explainsSignatures: Bool) { self.explainsSignatures = explainsSignatures }

    package func compose(in environment: FamilyEnvironment) -> ComposedFamily {
        ComposedFamily([S3Family(explainsSignatures: explainsSignatures)])
    }
}
