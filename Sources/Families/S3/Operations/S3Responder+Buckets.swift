import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeStore

extension S3Responder {
    /// Longest body of CreateBucket, in bytes.
    private static let configurationLimit = 16 << 10

    /// Lists the buckets in which the business has objects.
    func listBuckets(_ business: BusinessID) async throws -> Response {
        let elements = try await store.audio.buckets(business: business).map { bucket in
            XMLElement(
                "Bucket",
                [
                    XMLElement("Name", bucket.name), XMLElement("CreationDate", bucket.createdAt.s3Time),
                    XMLElement("BucketRegion", SigningScope.region),
                ])
        }
        return XMLElement(
            "ListAllMyBucketsResult", namespace: XMLElement.s3Namespace,
            [Self.owner(business), XMLElement("Buckets", elements)]
        ).response(.ok)
    }

    /// Answers as AWS does to the owner of the bucket. A bucket is there without being created.
    func createBucket(
        _ request: Request, _ bucket: String, _ caller: VerifiedS3Request, _ context: ScribeContext
    ) async throws -> Response {
        let region = try await readDocument(
            "CreateBucketConfiguration", of: request, caller, upTo: Self.configurationLimit, context
        ) { $0?["LocationConstraint"] }
        if let region, !region.isEmpty, region != SigningScope.region {
            throw S3Error.illegalLocationConstraint(region)
        }
        guard !S3Family.buckets.contains(bucket) else { throw S3Error.bucketAlreadyOwned }
        if region == nil {
            context.note(
                ignored: "LocationConstraint",
                because: "is missing: AWS refuses that outside of us-east-1 (IllegalLocationConstraintException)")
        }
        return Response(status: .ok, headers: [.location: "/\(bucket)"])
    }

    /// Succeeds for an empty bucket, which is there all the same: tools remove what they have made.
    func deleteBucket(_ bucket: String, _ business: BusinessID) async throws -> Response {
        guard
            try await store.audio.objects(business: business, bucket: bucket, from: "", after: "", limit: 1).isEmpty
        else { throw S3Error.bucketNotEmpty }
        return Response(status: .noContent)
    }

    /// Reads a property that nothing can change.
    /// - Throws: ``S3Error/noSuchTagSet`` for the tags of a bucket.
    func property(
        _ property: S3Default, ofObject isObject: Bool, _ business: BusinessID
    ) throws(S3Error) -> Response {
        switch property {
        case .location:
            return XMLElement("LocationConstraint", namespace: XMLElement.s3Namespace, SigningScope.region)
                .response(.ok)
        case .versioning:
            return XMLElement("VersioningConfiguration", namespace: XMLElement.s3Namespace, []).response(.ok)
        case .tagging:
            guard isObject else { throw .noSuchTagSet }
            return XMLElement("Tagging", namespace: XMLElement.s3Namespace, [XMLElement("TagSet", [])]).response(.ok)
        case .acl:
            let grantee = XMLElement(
                "Grantee",
                attributes: #" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser""#,
                Self.identity(business))
            return XMLElement(
                "AccessControlPolicy", namespace: XMLElement.s3Namespace,
                [
                    Self.owner(business),
                    XMLElement(
                        "AccessControlList",
                        [XMLElement("Grant", [grantee, XMLElement("Permission", "FULL_CONTROL")])]),
                ]
            ).response(.ok)
        }
    }

    private static func owner(_ business: BusinessID) -> XMLElement { XMLElement("Owner", identity(business)) }

    private static func identity(_ business: BusinessID) -> [XMLElement] {
        [XMLElement("ID", business.rawValue), XMLElement("DisplayName", business.rawValue)]
    }
}
