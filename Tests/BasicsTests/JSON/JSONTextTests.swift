import Basics
import Foundation
import Testing

struct JSONTextTests {
    @Test(
        "a value written as JSON text is decoded as the same value",
        arguments: [
            JSONValue.null, .bool(true), .bool(false), .integer(.min), .integer(.max), .number(0.1), .number(1e300),
            .number(-2.5e-300), .string(""), .string("a\"b\\c/d\n\r\t\u{0}\u{1F}\u{7F}é नमस्ते 🫀"), .array([]),
            .object([:]),
            .array([.integer(1), .array([.null]), .object(["a\"b": .string("c")])]),
            .object(["b": .integer(1), "a": .object(["": .array([.bool(true), .null])])]),
        ])
    func roundTrip(value: JSONValue) throws {
        var text = JSONText()
        text.write(value)
        _ = try JSONSerialization.jsonObject(with: Data(text.bytes), options: .fragmentsAllowed)
        #expect(JSONDocument.written(String(decoding: text.bytes, as: UTF8.self)) == value)
    }
}
