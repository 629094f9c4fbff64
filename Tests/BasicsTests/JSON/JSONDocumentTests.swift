import Basics
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
            "null", "true", "false", "0", "-7", "9223372036854775807", "1.5", "1e3", "\"\"",
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
        "a number that neither Int64 nor Double holds is written with the digits that came",
        arguments: [
            "9223372036854775808", "-9223372036854775809", "18446744073709551616", "10000000000000000000",
            "123456789012345678901234567890123456789012345678901234567890", "3.14159265358979323846",
            "0.10000000000000001", "1.234567890123456789e-7", "-98765432109876543210.5E3",
        ])
    func digits(number: String) throws {
        let text = #"{"a":[\#(number)],"b":\#(number)}"#
        let value = try JSONDocument(Data(text.utf8)).decode(JSONValue.self)
        #expect(String(decoding: JSON.value(value).bytes, as: UTF8.self) == text)
        #expect(value["b"]?.numberValue == Double(number))
        #expect(value["b"]?.scalarText == number)
        #expect(value.size == text.utf8.count)
    }

    @Test(
        "a number that Int64 or Double holds stays one, however long",
        arguments: [
            ("9223372036854775807", .integer(.max)), ("1.50000000000000000000", .number(1.5)),
            ("1234567890123456.0", .integer(1_234_567_890_123_456)), ("0.00000000000000000000", .integer(0)),
            ("1795858379.1234567", .number(1795858379.1234567)), ("100000000000000000000e-20", .integer(1)),
        ] as [(String, JSONValue)])
    func held(text: String, value: JSONValue) throws {
        #expect(try JSONDocument(Data(text.utf8)).decode(JSONValue.self) == value)
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
        "JSON is too large by its depth or by its values, and not by what stands in its texts",
        arguments: [
            (String(repeating: "[", count: 120), false), (String(repeating: "[", count: 121), true),
            (String(repeating: #"{"a":"#, count: 121), true), (#"[["\""# + String(repeating: "[", count: 500), false),
            (String(repeating: "[]", count: 121), false), ("[" + String(repeating: ",", count: 999), true),
            ("[" + String(repeating: ",", count: 998), false), (String(repeating: "{},", count: 500), true),
            ("\"" + String(repeating: ",", count: 2000), false),
        ])
    func size(text: String, isTooLarge: Bool) {
        #expect(JSONDocument.isTooLarge(text.utf8, upTo: 1000) == isTooLarge)
    }

    @Test("JSON of more values than are accepted is not decoded, however short it is")
    func values() {
        let text = Data("[\(String(repeating: "0,", count: 1000))0]".utf8)
        #expect(JSONDocument.untrusted(text, as: JSONValue.self, upTo: 1001) == nil)
        #expect(JSONDocument.untrusted(text, as: JSONValue.self, upTo: 1002) != nil)
    }
}
