import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct LinkOriginTests {
    private func bucketURL(scheme: String = "https", _ host: String, publicURL: String? = nil) -> String {
        let origin = LinkOrigin(
            publicURL: publicURL, proxies: TrustedProxies([]), vendorHosts: [".eka.care", ".suki.ai"])
        let context = ScribeContext(source: .init(channel: EmbeddedChannel(), logger: Logger(label: "test")))
        let head = HTTPRequest(method: .post, scheme: scheme, authority: host, path: "/")
        return origin.bucketURL("batch", for: Request(head: head, body: .init(buffer: ByteBuffer())), context)
    }

    @Test("under a vendor's host name the bucket's link has the AWS host, on the request's port")
    func vendor() {
        #expect(bucketURL("api.eka.care") == "https://batch.s3.amazonaws.com/")
        #expect(bucketURL("api.eka.care:443") == "https://batch.s3.amazonaws.com/")
        #expect(bucketURL("API.EKA.CARE:8443") == "https://batch.s3.amazonaws.com:8443/")
        // What reaches us in the clear by port 80 went out as https.
        #expect(bucketURL(scheme: "http", "api.eka.care") == "https://batch.s3.amazonaws.com/")
        #expect(bucketURL(scheme: "http", "api.eka.care:8087") == "http://batch.s3.amazonaws.com:8087/")
    }

    @Test("under any other host name the bucket's link is a path of that host")
    func own() {
        #expect(bucketURL(scheme: "http", "localhost:8087") == "http://localhost:8087/batch/")
        #expect(bucketURL("evileka.care") == "https://evileka.care/batch/")
    }

    @Test("the public URL replaces the request's host in the bucket's link, by the same rule")
    func published() {
        #expect(bucketURL("api.eka.care", publicURL: "https://scribe.example") == "https://scribe.example/batch/")
        #expect(bucketURL("localhost:8087", publicURL: "https://api.eka.care") == "https://batch.s3.amazonaws.com/")
    }
}
