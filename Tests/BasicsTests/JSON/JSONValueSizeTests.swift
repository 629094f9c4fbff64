import ScribeDomain
import Testing

@testable import Basics

struct JSONValueSizeTests {
    @Test(
        "the size of a value is that of its JSON without spaces",
        arguments: [
            ("null", .null), ("true", .bool(true)), ("false", .bool(false)), ("-12", .integer(-12)),
            ("0.5", .number(0.5)), (#""ab""#, .string("ab")), ("[]", .array([])), ("[1]", .array([.integer(1)])),
            ("[[],[1,2]]", .array([.array([]), .array([.integer(1), .integer(2)])])), ("{}", .object([:])),
            (#"{"a":1}"#, .object(["a": .integer(1)])),
            (#"{"a":1,"b":[null]}"#, .object(["a": .integer(1), "b": .array([.null])])),
        ] as [(String, JSONValue)])
    func size(text: String, value: JSONValue) {
        #expect(value.size == text.utf8.count)
    }
}
