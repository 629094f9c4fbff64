import Foundation
import Testing

@testable import ScribeRuntime

struct WebhookSignatureTests {
    private let body = Data(#"{"a":1}"#.utf8)
    private let now = Date(timeIntervalSince1970: 1_700_000_000.9)

    @Test("a timed webhook signature is the HMAC of time, dot and body, as OpenSSL computes it")
    func timed() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 'key'
        let signature = WebhookSignature.timed(of: body, key: "key", at: now)
        #expect(signature == "t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03")
    }

    @Test("a stamped webhook signature is the HMAC of milliseconds, colon and body")
    func stamped() {
        // printf '1700000000900:{"a":1}' | openssl dgst -sha256 -hmac 'key'
        let signature = WebhookSignature.stamped(of: body, key: "key", at: now)
        let code = "0f6b6d65546c583a2cb7754da5b22a039a34684bd80fb0f65b5e528708fd1864"
        #expect(signature == "1700000000900:\(code)")
    }
}
