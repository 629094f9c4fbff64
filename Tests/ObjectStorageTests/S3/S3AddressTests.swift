import Foundation
import Testing

@testable import ObjectStorage

struct S3AddressTests {
    @Test("an address of a bucket names endpoint, region and prefix, and has defaults for AWS")
    func bucket() throws {
        let own = try #require(S3Address("s3://audio/a//b/?endpoint=http://127.0.0.1:9000&region=eu-1"))
        #expect(own.bucket == "audio" && own.prefix == "a/b/" && own.host == "127.0.0.1:9000" && own.region == "eu-1")
        let aws = try #require(S3Address("s3://audio"))
        #expect(aws.endpoint.absoluteString == "https://s3.us-east-1.amazonaws.com" && aws.prefix.isEmpty)
        for text in ["", "audio", "s3://", "http://audio", "s3://audio?endpoint=ftp://x"] {
            #expect(S3Address(text) == nil, "\(text)")
        }
    }

    @Test("the listing of a bucket gives keys with the times of their last writes")
    func listing() {
        let text = """
            <ListBucketResult><Contents><Key>a/1</Key><LastModified>2026-05-10T09:12:33.120Z</LastModified></Contents>
            <Contents><Key>a/2</Key><LastModified>2026-05-10T09:12:34Z</LastModified></Contents><Contents></Contents>
            """
        let objects = S3Listing(text).objects
        #expect(objects.map(\.key) == ["a/1", "a/2"])
        #expect(objects.map { $0.writtenAt.timeIntervalSince1970.rounded(.down) } == [1_778_404_353, 1_778_404_354])
        #expect(S3Listing("").objects.isEmpty)
    }

    @Test("a signature for S3 is that of AWS's own example")
    func signature() throws {
        let address = try #require(S3Address("s3://examplebucket"))
        let credentials = try #require(
            S3Address.Credentials(environment: [
                "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            ]))
        let headers = S3Signature(address: address, credentials: credentials).headers(
            "GET", path: "/examplebucket/a", query: "", [:], at: Date(timeIntervalSince1970: 1_440_938_160))
        let found = Dictionary(uniqueKeysWithValues: headers)
        #expect(found["x-amz-date"] == "20150830T123600Z" && found["host"] == nil)
        let beginning =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/s3/aws4_request, "
            + "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature="
        #expect(found["authorization"]?.hasPrefix(beginning) == true)
    }
}
