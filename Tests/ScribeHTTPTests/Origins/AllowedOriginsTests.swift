import Testing

@testable import ScribeHTTP

struct AllowedOriginsTests {
    private func contains(_ origin: String, in entries: String...) -> Bool {
        AllowedOrigins.listed(entries.compactMap(OriginPattern.init)).contains(origin)
    }

    @Test(
        "a listed origin is one scheme, host and port, in any spelling",
        arguments: [
            ("https://a.example", "https://a.example:443"), ("https://a.example:443", "https://a.example"),
            ("http://A.example", "http://a.example:80"), ("https://[0:0:0:0:0:0:0:1]:3", "https://[::1]:3"),
            ("app://ekascribe", "app://ekascribe"), ("chrome-extension://abc", "chrome-extension://abc"),
            ("capacitor://localhost", "capacitor://LOCALHOST"),
        ])
    func same(entry: String, origin: String) {
        #expect(contains(origin, in: "https://b.example", entry))
        #expect(!contains("https://c.example", in: "https://b.example", entry))
    }

    @Test(
        "another scheme, host or port is another origin",
        arguments: [
            "http://a.example", "https://a.example:8443", "https://b.a.example", "https://a.example.evil.example",
            "https://a.example@evil.example", "null", "", "https://a.example/", "https://*.example",
        ])
    func others(origin: String) {
        #expect(!contains(origin, in: "https://a.example"))
    }

    @Test("a wildcard stands for all hosts below one, on one port")
    func wildcard() {
        for origin in ["https://a.staging.example", "https://a.b.staging.example:443"] {
            #expect(contains(origin, in: "https://*.staging.example"))
            #expect(contains(origin, in: "https://*.Staging.example:443"))
        }
        for origin in [
            "https://staging.example", "https://evilstaging.example", "http://a.staging.example",
            "https://a.staging.example:8443", "https://a.staging.example.evil.example", "https://*.staging.example",
        ] {
            #expect(!contains(origin, in: "https://*.staging.example"), "\(origin)")
        }
    }

    @Test(
        "an entry that no origin can match is none",
        arguments: [
            "a.example", "https://", "https:a.example", "://a.example", "https://a.example/", "https://u@a.example",
            "https://*", "https://*.10.0.0.1", "https://a.*.example", "https://a..example", "https://.example",
            "https://a.example:0", "https://a.example:99999", "wss://a.example", "file://a", "null", "*",
            #""https://a.example""#, #"["https://a.example"#, "https://käfer.example", "https://a.example b",
        ])
    func none(entry: String) {
        #expect(OriginPattern(entry) == nil)
    }
}
