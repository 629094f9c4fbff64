import Testing

@testable import Engines

struct ServiceClientTests {
    @Test(
        "a Retry-After of a speech service is obeyed for at most a minute, and an invalid one is ignored",
        arguments: [
            ("2", 2), ("0.5", 0.5), ("3600", 60), ("100000000000000000", 60), ("inf", nil), ("nan", nil), ("-1", nil),
            ("Sat, 21 Nov 2026 07:28:00 GMT", nil), ("", nil), (nil, nil),
        ] as [(String?, Double?)])
    func retryAfter(header: String?, seconds: Double?) {
        #expect(ServiceClient.pause(header) == seconds)
    }
}
