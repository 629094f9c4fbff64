import Foundation
import ScribeDomain
import Testing

struct JSONDocumentTests {
    struct Body: Decodable {
        let name: String
        let any: JSONValue?
        let list: [JSONValue]?
    }

    @Test(
        "a JSON document reads any value like JSONDecoder",
        arguments: [
            "null", "true", "false", "0", "-7", "9223372036854775807", "1.5", "1e3", "18446744073709551616", "\"\"",
            #""a\"b\\c\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#, "\"आ\"", "[]", "{}", "[1,[2,[3]],{\"a\":[]}]",
            #"{ "a" : 1 , "b":{"c":null}, "":"" }"#,
        ]
    )
    func values(text: String) throws {
        let alone = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(try JSONDocument(Data(text.utf8)).decode(JSONValue.self) == alone)
        let body = try JSONDocument(Data(#" {"name":"n","any":\#(text),"list":[7,\#(text)]}"#.utf8)).decode(Body.self)
        #expect(body.any == (alone == .null ? nil : alone))
        #expect(body.list == [.integer(7), alone])
    }

    @Test(
        "a JSON document refuses invalid JSON with a decoding error",
        arguments: [
            "", "{", "[1", "nul", #"{"name":1}"#, #"{"name":"\ud800"}"#, #"{"name":"n","any":"\ud800"}"#,
            #"{"name":"n","any":[1e999]}"#, "{\"name\":\"n\",\"any\":{\"a\u{0}\":1}}",
        ])
    func malformed(text: String) {
        #expect(throws: DecodingError.self) { try JSONDocument(Data(text.utf8)).decode(Body.self) }
    }

    @Test(
        "the depth of JSON counts open brackets, and ignores those within texts",
        arguments: [("1", 0), ("[]", 1), ("[[],[[]]]", 3), (#"{"a":{"b":[]}}"#, 3), (#""[[[""#, 0), (#"["\"[["]"#, 1)]
    )
    func depth(text: String, depth: Int) {
        #expect(JSONDocument.depth(of: text.utf8) == depth)
    }
}
