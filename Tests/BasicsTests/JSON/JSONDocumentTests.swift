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
        "a JSON document reads any value, alone and in a type",
        arguments: [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("0", .integer(0)), ("-0", .integer(0)),
            ("-7", .integer(-7)), ("9223372036854775807", .integer(.max)), ("1.5", .number(1.5)),
            ("-2.5E-1", .number(-0.25)), ("1e3", .integer(1000)), (#""""#, .string("")),
            (#""a\"b\\c\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#, .string("a\"b\\c/\u{8}\u{C}\n\r\tAé😀")),
            ("\"आ\"", .string("आ")), ("[]", .array([])), ("{}", .object([:])),
            (
                #"[1,[2,[3]],{"a":[]}]"#,
                .array([
                    .integer(1), .array([.integer(2), .array([.integer(3)])]), .object(["a": .array([])]),
                ])
            ),
            (
                #"{ "a" : 1 , "b":{"c":null}, "":"", "a":2 }"#,
                .object(["a": .integer(1), "b": .object(["c": .null]), "": .string("")])
            ),
        ] as [(String, JSONValue)])
    func values(text: String, value: JSONValue) throws {
        #expect(try JSONDocument(text.utf8).value == value)
        let body = try JSONDocument(#" {"name":"n","any":\#(text),"list":[7,\#(text)]}"#.utf8).decode(Body.self)
        #expect(body.any == (value == .null ? nil : value))
        #expect(body.list == [.integer(7), value])
    }

    static let examples =
        [
            "", " ", "1", "01", "-", "-1", "-01", "1.", ".5", "1.5.", "1e", "1e+", "1e+5", "1E-0", "0x1", "+1", "1 2",

            "trueX", "True", "nul", "null ", "NaN", "Infinity", "\"", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
            "\"\u{1F}\"", "\"\u{7F}\"", "'a'", "[", "]", "[1", "[1,", "[,1]", "[1,,2]", "[1 2]", "[1]]", "{",
            "}",
            "{a:1}", "{\"a\"}", "{\"a\":}", "{,\"a\":1}", "{\"a\":1 \"b\":2}", "{\"a\" 1}", "{\"a\"::1}",
            "{1:2}", "{\"a\":1}}", "[1}", "{\"a\":1]", "//c\n1", "/**/1", "\u{FEFF}1", "\u{A0}1", "\t\n\r 1\t",
            "\u{B}1",
            String(repeating: "[", count: 512) + String(repeating: "]", count: 512),
            String(repeating: "[", count: 513) + String(repeating: "]", count: 513),
        ].map { Data($0.utf8) } + [Data([0x22, 0xFF, 0x22]), Data([0x22, 0xC3, 0x22])]

    @Test("a JSON document takes and refuses the same texts as JSONSerialization", arguments: examples)
    func texts(text: Data) {
        let isTaken = (try? JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)) != nil
        #expect(((try? JSONDocument(text)) != nil) == isTaken, "\(String(decoding: text, as: UTF8.self))")
    }

    @Test(
        "a JSON document refuses what Foundation takes beyond the standard: a comma at the end, and UTF-16",
        arguments: ["[1,]", "{\"a\":1,}", "1\0"])
    func loose(text: String) {
        #expect(throws: DecodingError.self) { try JSONDocument(text.utf8) }
    }

    /// Types that a body can miss.
    struct Wanted: Decodable {
        struct Part: Decodable {
            let name: String
            let size: Int?
        }

        enum Kind: String, Decodable {
            case one
        }

        let text: String?
        let isOn: Bool?
        let count: UInt8?
        let rate: Double?
        let kind: Kind?
        let parts: [Part]?
        let sizes: [String: [Int]]?
    }

    /// Kind of an error, and the path of its value.
    static func failure(_ decode: () throws -> Wanted) -> String {
        func text(_ kind: String, _ path: [any CodingKey]) -> String {
            ([kind] + path.map { $0.intValue.map(String.init) ?? $0.stringValue }).joined(separator: ".")
        }
        do {
            return "\(try decode())"
        } catch DecodingError.typeMismatch(_, let context) {
            return text("mismatch", context.codingPath)
        } catch DecodingError.valueNotFound(_, let context) {
            return text("null", context.codingPath)
        } catch DecodingError.keyNotFound(let key, let context) {
            return text("missing", context.codingPath + [key])
        } catch DecodingError.dataCorrupted(let context) {
            return text("corrupt", context.codingPath)
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "a JSON document gives types the values and the errors of JSONDecoder",
        arguments: [
            "{}", "[]", "null", "7", #"{"text":null,"isOn":null,"parts":null}"#, #"{"text":1}"#, #"{"isOn":"true"}"#,
            #"{"isOn":1}"#, #"{"count":"1"}"#, #"{"count":255,"rate":1}"#,
            #"{"count":2.0,"rate":18446744073709551616}"#,
            #"{"rate":"1"}"#, #"{"kind":"one"}"#, #"{"kind":"two"}"#, #"{"kind":1}"#, #"{"parts":{}}"#,
            #"{"parts":[1]}"#,
            #"{"parts":[null]}"#, #"{"parts":[{"name":"a"},{"size":1}]}"#, #"{"parts":[{"name":null}]}"#,
            #"{"parts":[{"name":"a","size":"1"}]}"#, #"{"parts":[{"name":"a","size":1e2}]}"#, #"{"sizes":[]}"#,
            #"{"sizes":{"a":[1,2]}}"#, #"{"sizes":{"a":[1,null]}}"#, #"{"sizes":{"a":{}}}"#,
            #"{"text":"a","text":"b"}"#,
        ])
    func errors(text: String) {
        let known = Self.failure { try JSONDecoder().decode(Wanted.self, from: Data(text.utf8)) }
        #expect(Self.failure { try JSONDocument(text.utf8).decode() } == known)
    }

    @Test("a JSON document reads members in snake case on request, and the keys of a dictionary as they are")
    func snakeCase() throws {
        struct Item: Decodable {
            let createdAt: Int
            let perName: [String: Item]?
        }
        let text = #"{"created_at":1,"per_name":{"aB_c":{"createdAt":2,"created_at":3}}}"#
        let item: Item = try JSONDocument(text.utf8).decode(readsSnakeCase: true)
        #expect(item.createdAt == 1)
        #expect(item.perName?["aB_c"]?.createdAt == 2)
        #expect(throws: DecodingError.self) { try JSONDocument(text.utf8).decode(Item.self) }
    }

    @Test(
        "a number that its type does not hold is another type's, at its place",
        arguments: [#"{"count":256}"#, #"{"count":-1}"#, #"{"count":1.5}"#, #"{"count":99999999999999999999}"#])
    func narrow(text: String) {
        #expect(Self.failure { try JSONDocument(text.utf8).decode() } == "mismatch.count")
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
        let value = try JSONDocument(text.utf8).decode(JSONValue.self)
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
        #expect(try JSONDocument(text.utf8).decode(JSONValue.self) == value)
    }

    @Test(
        "a JSON document refuses invalid JSON with a decoding error",
        arguments: [
            "", "{", "[1", "nul", #"{"name":1}"#, #"{"name":"\ud800"}"#, #"{"name":"n","any":"\ud800"}"#,
            #"{"name":"n","any":[1e999]}"#, "{\"name\":\"n\",\"any\":{\"a\u{0}\":1}}",
        ])
    func malformed(text: String) {
        #expect(throws: DecodingError.self) { try JSONDocument(text.utf8).decode(Body.self) }
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
