import HTTPTypes
import ScribeHTTP
import Testing

@Suite struct BearerTokenTests {
    @Test(
        "a token comes with or without the scheme bearer, in small or large letters",
        arguments: [
            ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER   abc d", "abc d"), ("abc", "abc"),
            ("Bearer", ""), ("Bearerabc", "Bearerabc"), ("Bearer:abc", "Bearer:abc"), ("Basic abc", "Basic abc"),
            ("Bear abc", "Bear abc"), ("\"earer abc", "\"earer abc"), ("", ""), ("Bearer \u{E9}", "\u{E9}"),
        ])
    func token(value: String, token: String) {
        #expect(HTTPFields([HTTPField(name: .authorization, value: value)]).bearerToken == token)
    }

    @Test("a request without the field has no token")
    func none() { #expect(HTTPFields().bearerToken == nil) }
}
