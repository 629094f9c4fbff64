import ScribeDomain
import Testing

struct AudioLocationTests {
    @Test("an S3 key is split into its folder and its file name, whatever letter the name begins with")
    func split() {
        let location = AudioLocation(bucket: "b", folder: "260510/t")
        for name in ["1.m4a", "\u{301}a.wav", ""] {
            let parts = AudioLocation.split(key: "260510/t/\(name)")
            #expect(parts.folder == "260510/t")
            #expect(Array(parts.name.utf8) == Array(name.utf8))
            #expect(location.name(ofKey: "260510/t/\(name)").map { Array($0.utf8) } == Array(name.utf8))
        }
        #expect(AudioLocation.split(key: "1.m4a") == ("", "1.m4a"))
        #expect(location.name(ofKey: "260510/tt/1.m4a") == nil)
        #expect(AudioLocation(bucket: "b", folder: "").name(ofKey: "1.m4a") == "1.m4a")
    }

    @Test(
        "bucket and folder are read from every spelling of an upload URL that clients send",
        arguments: [
            ("s3://m-prod-voice-record/260510/i-1", "m-prod-voice-record", "260510/i-1"),
            ("s3://bucket/260510/i-1/", "bucket", "260510/i-1"),
            ("https://bucket.s3.amazonaws.com/EC_1/txn/20250617_105524/", "bucket", "EC_1/txn/20250617_105524"),
            ("https://bucket.s3.ap-south-1.amazonaws.com/f", "bucket", "f"),
            ("https://bucket.s3-ap-south-1.amazonaws.com/f", "bucket", "f"),
            ("http://127.0.0.1:8087/bucket/a/b/", "bucket", "a/b"),
            ("http://127.0.0.1:8087/ns/q-1/bucket/a/b/", "bucket", "a/b"),
            ("https://bucket.s3.amazonaws.com/ns/q-1/a/b/", "bucket", "a/b"),
            ("https://bucket.s3.amazonaws.com/ns/", "bucket", "ns"),
            ("s3://bucket/ns/q-1/a", "bucket", "ns/q-1/a"),
            ("s3://None/EC_1/txn/", "None", "EC_1/txn"),
            ("s3://bucket", "bucket", ""),
            ("s3:///EC_1/txn/", "undefined", "EC_1/txn"),
        ]
    )
    func parsing(url: String, bucket: String, folder: String) {
        #expect(AudioLocation(url: url) == AudioLocation(bucket: bucket, folder: folder))
    }

    @Test(
        "an upload URL without a bucket and a folder is refused",
        arguments: ["", "bucket/folder", "ftp://a/b", "s3://", "http://host", "http://host/ns/q-1"])
    func refusal(url: String) {
        #expect(AudioLocation(url: url) == nil)
    }

    @Test(
        "a bucket is read from host names of AWS, in both spellings, and from local host names",
        arguments: [
            ("b.s3.amazonaws.com", "b"), ("b.s3.ap-south-1.amazonaws.com:443", "b"),
            ("b.s3-us-west-1.amazonaws.com", "b"), ("b.s3.dualstack.ap-south-1.amazonaws.com", "b"),
            ("b.s3-accelerate.amazonaws.com", "b"), ("b.s3-accelerate.dualstack.amazonaws.com", "b"),
            ("a.b.s3.amazonaws.com", "a.b"), ("b.s3.localhost:8087", "b"),
            ("api.eka.care", nil), ("localhost:8087", nil), ("s3.amazonaws.com", nil), ("127.0.0.1:8087", nil),
        ] as [(String, String?)]
    )
    func hosts(host: String, bucket: String?) {
        #expect(AudioLocation.bucket(ofVirtualHost: host) == bucket)
    }

    @Test(
        "chunk times are read as numbers of seconds and as clock times",
        arguments: [
            ("12.48", 12.48), ("0", 0), ("01:02.5", 62.5), ("1:00:00", 3600), ("", nil), ("x", nil), ("-1", nil),
            ("1:2:3:4", nil), ("nan", nil), ("inf", nil),
        ] as [(String, Double?)]
    )
    func times(text: String, seconds: Double?) {
        #expect(ChunkTimes.seconds(from: text) == seconds)
    }
}
