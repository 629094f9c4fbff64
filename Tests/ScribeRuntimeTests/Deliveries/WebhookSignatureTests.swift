import Foundation
import Testing

@testable import ScribeRuntime

struct WebhookSignatureTests {
    @Test("the signature is the HMAC of time, dot and body, as OpenSSL computes it")
    func value() {
        // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 'key'
        let value = WebhookSignature.value(
            of: Data(#"{"a":1}"#.utf8), key: "key", at: Date(timeIntervalSince1970: 1_700_000_000.9))
        #expect(value == "t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03")
    }
}
