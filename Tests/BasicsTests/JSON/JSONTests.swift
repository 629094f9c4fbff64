import Basics
import Testing

struct JSONTests {
    private func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }

    @Test("written JSON keeps the order of its members and leaves nil members out")
    func order() {
        let language: String? = nil
        let json: JSON = [
            "z": "last", "a": 1, "lang": language.map(JSON.string), "m": 0.5, "yes": true, "none": .null, "empty": [:],
            "list": .array([1, 2]) { ["n": .integer($0)] },
        ]
        #expect(text(json) == #"{"z":"last","a":1,"m":0.5,"yes":true,"none":null,"empty":{},"list":[{"n":1},{"n":2}]}"#)
        #expect(text(["lang": language.map(JSON.string).orNull]) == #"{"lang":null}"#)
    }

    @Test("written JSON escapes texts, shortens numbers and writes null for a number that is not finite")
    func values() {
        #expect(text("a \"b\" \\ \n \u{1}") == #""a \"b\" \\ \n \u0001""#)
        #expect(
            text([2.0, 0.1, .number(.nan), .number(.infinity), .integer(Int64.max)])
                == "[2,0.1,null,null,9223372036854775807]")
    }

    @Test("written JSON sorts the members of a client's object by name")
    func objects() {
        let value = JSONValue.object(["b": .integer(1), "a": .array([.null])])
        #expect(text(["x": .value(value)]) == #"{"x":{"a":[null],"b":1}}"#)
        #expect(text((["a": 1] as JSON).adding(["b": 2])) == #"{"a":1,"b":2}"#)
    }

    @Test("indented JSON has each member and each element in a line")
    func indented() {
        let json: JSON = ["a": [1, "b"], "empty": [:], "none": [], "c": ["d": .null]]
        let lines = ["{", #"  "a": ["#, "    1,", #"    "b""#, "  ],", #"  "empty": {},"#, #"  "none": [],"#]
        let rest = [#"  "c": {"#, #"    "d": null"#, "  }", "}"]
        #expect(json.indented == (lines + rest).joined(separator: "\n"))
        let sent = JSON.value(.object(["b": .array([.integer(1), .object([:])]), "a": .null]))
        #expect(sent.indented == "{\n  \"a\": null,\n  \"b\": [\n    1,\n    {}\n  ]\n}")
    }
}
