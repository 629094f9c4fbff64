import Foundation
import ServerTestSupport
import Testing

@testable import Eka
@testable import S3
@testable import ScribeHTTP
@testable import ScribeServer

struct PostPolicyTests {
    let now = Date(timeIntervalSince1970: 1_778_404_353)

    func policy(_ conditions: String, expiration: String = "2026-05-10T12:00:00Z") throws -> PostPolicy {
        let json = #"{"expiration":"\#(expiration)","conditions":[\#(conditions)]}"#
        return try PostPolicy(base64: Data(json.utf8).base64EncodedString())
    }

    @Test("a POST form that satisfies its policy passes, whatever the case of its field names")
    func passes() throws {
        let policy = try policy(
            #"{"bucket":"b"},["starts-with","$Key","f/"],["eq","$x-amz-date","d"],["content-length-range",1,10]"#)
        try policy.check(["bucket": "b", "key": "f/a", "x-amz-date": "d", "x-ignore-me": "1"], at: now)
        #expect(policy.sizes == 1...10)
    }

    @Test(
        "a POST form with another bucket or key, or a field outside its policy, is refused",
        arguments: [
            ["bucket": "c", "key": "f/a"], ["bucket": "b", "key": "g/a"], ["bucket": "b"],
            ["bucket": "b", "key": "f/a", "acl": "public-read"],
        ]
    )
    func refuses(fields: [String: String]) throws {
        let policy = try policy(#"{"bucket":"b"},["starts-with","$key","f/"]"#)
        #expect(throws: S3Error.self) { try policy.check(fields, at: now) }
    }

    @Test("several size ranges of a POST policy all apply, and ranges that exclude each other are refused")
    func sizes() throws {
        func policy(_ ranges: String) throws -> PostPolicy {
            let json = #"{"expiration":"2030-01-01T00:00:00Z","conditions":[\#(ranges)]}"#
            return try PostPolicy(base64: Data(json.utf8).base64EncodedString())
        }
        let both = #"["content-length-range",10,100],["content-length-range",50,1000]"#
        #expect(try policy(both).sizes == 50...100)
        #expect(throws: S3Error.self) {
            try policy(#"["content-length-range",1,2],["content-length-range",3,4]"#)
        }
    }

    @Test("a POST policy compares values by their bytes")
    func bytes() throws {
        let json = #"{"expiration":"2030-01-01T00:00:00Z","conditions":[{"key":"caf\u00e9"}]}"#
        let policy = try PostPolicy(base64: Data(json.utf8).base64EncodedString())
        let now = Date(timeIntervalSince1970: 1_778_404_353)
        #expect(throws: Never.self) { try policy.check(["key": "caf\u{e9}"], at: now) }
        #expect(throws: S3Error.self) { try policy.check(["key": "cafe\u{301}"], at: now) }
    }

    @Test("a POST form is refused after its policy has expired")
    func expires() throws {
        let policy = try policy(#"{"bucket":"b"}"#, expiration: "2026-05-10T09:12:33.000Z")
        #expect(throws: S3Error.accessDenied("Invalid according to Policy: Policy expired.")) {
            try policy.check(["bucket": "b"], at: now)
        }
    }

    @Test(
        "an invalid POST policy is refused",
        arguments: [
            "", "x", "bnVsbA==", Data(#"{"expiration":"soon","conditions":[]}"#.utf8).base64EncodedString(),
            Data(#"{"expiration":"2026-05-10T12:00:00Z","conditions":[["in","$key","x"]]}"#.utf8).base64EncodedString(),
            Data(#"{"expiration":"2026-05-10T12:00:00Z","conditions":[["content-length-range",5,1]]}"#.utf8)
                .base64EncodedString(),
            Data(#"{"expiration":"2026-05-10T12:00:00Z","conditions":[{"key":1}]}"#.utf8).base64EncodedString(),
        ]
    )
    func malformed(text: String) {
        #expect(throws: S3Error.self) { try PostPolicy(base64: text) }
    }
}
