import Basics
import Foundation
import Journal
import Testing

@testable import ScribeHTTP

@Suite("The contract's schemas")
struct JSONSchemaTests {
    private func value(_ json: String) throws -> JSONValue {
        try #require(JSONDocument.untrusted(Data(json.utf8), as: JSONValue.self))
    }

    private func schema(_ json: String) throws -> JSONSchema {
        try JSONSchema(value(json), JSONSchema.Library(value(#"{"parts":{"name":{"type":"string","maxLength":2}}}"#)))
    }

    @Test(
        "every schema of the API document has only keywords that the server checks, and every reference leads somewhere"
    )
    func documented() throws {
        let contract = try #require(Contract.documented)
        #expect(contract.all.count > 100)
        #expect(contract.operation("POST", "/voice/api/v2/transaction/init/{any}")?.id == "initTransaction")
        #expect(contract.operation("POST", "/nowhere") == nil)
        for operation in contract.all { _ = operation.findings(inBody: .object([:])) }
    }

    @Test(
        "a keyword that the server does not check is an error, and not a schema that admits everything",
        arguments: [#"{"minContains":1}"#, #"{"properties":{"a":{"multipleOf":2}}}"#, #"{"pattern":"("}"#, "7"])
    func unsupported(json: String) throws {
        #expect(throws: JSONSchema.Unsupported.self) { try schema(json) }
    }

    @Test(
        "a schema admits what JSON Schema admits",
        arguments: [
            (#"{"type":"integer"}"#, ["1", "1.0", "-3"], ["1.5", "true", "\"1\"", "null"]),
            (#"{"type":["string","null"]}"#, ["\"\"", "null"], ["0", "[]"]),
            (#"{"const":1}"#, ["1", "1.0"], ["true", "2", "\"1\""]),
            (#"{"enum":["a",2]}"#, ["\"a\"", "2.0"], ["\"b\""]),
            (#"{"minLength":1,"maxLength":2}"#, ["\"é\"", "\"👩\"", "7"], ["\"\"", "\"abc\""]),
            (#"{"pattern":"^[a-z]+$"}"#, ["\"ab\"", "7"], ["\"aB\"", "\"\""]),
            (#"{"minimum":1,"maximum":3}"#, ["1", "3", "\"x\""], ["0.5", "4"]),
            (#"{"exclusiveMinimum":0}"#, ["0.1"], ["0"]),
            (#"{"minItems":1,"maxItems":2}"#, ["[1]", "{}"], ["[]", "[1,2,3]"]),
            (#"{"items":{"type":"string"}}"#, ["[]", "[\"a\"]"], ["[1]"]),
            (#"{"contains":{"const":1}}"#, ["[2,1]"], ["[2]"]),
            (#"{"required":["a"],"properties":{"a":true,"b":false}}"#, [#"{"a":1}"#, "7"], ["{}", #"{"a":1,"b":1}"#]),
            (
                #"{"additionalProperties":false,"patternProperties":{"^x":{"type":"null"}}}"#, [#"{"x1":null}"#],
                [#"{"x":1}"#, #"{"y":1}"#]
            ),
            (#"{"minProperties":1,"maxProperties":1}"#, [#"{"a":1}"#], ["{}", #"{"a":1,"b":2}"#]),
            (#"{"dependentSchemas":{"a":{"required":["b"]}}}"#, ["{}", #"{"a":1,"b":1}"#], [#"{"a":1}"#]),
            (##"{"$ref":"#/parts/name"}"##, ["\"ab\""], ["\"abc\"", "1"]),
            (#"{"allOf":[{"type":"integer"},{"minimum":2}]}"#, ["2"], ["1", "\"a\""]),
            (#"{"anyOf":[{"const":1},{"const":2}]}"#, ["2"], ["3"]),
            (#"{"oneOf":[{"minimum":1},{"maximum":2}]}"#, ["0", "3"], ["1"]), (#"{"not":{"const":1}}"#, ["2"], ["1"]),
            (#"{"if":{"const":1},"then":false,"else":{"type":"string"}}"#, ["\"a\""], ["1", "2"]), ("true", ["1"], []),
            ("false", [], ["1"]), (#"{"description":"x","format":"uuid","default":1}"#, ["\"no uuid\""], []),
        ])
    func verdicts(json: String, admitted: [String], refused: [String]) throws {
        let schema = try schema(json)
        for text in admitted { #expect(schema.admits(try value(text)), "\(text)") }
        for text in refused { #expect(!schema.admits(try value(text)), "\(text)") }
    }

    @Test("a text beyond its length and a value of another type are one mismatch each")
    func first() throws {
        let text = try schema(#"{"type":"string","maxLength":2,"pattern":"^x$","enum":["x"]}"#)
        #expect(text.mismatches(of: try value("\"abc\"")).map(\.problem).contains("is too short or too long"))
        #expect(!text.mismatches(of: try value("\"abc\"")).map(\.problem).contains("has another form"))
        #expect(text.mismatches(of: try value("7")).map(\.problem) == ["must be string"])
    }

    @Test("a mismatch has its place, and repeats no name that the client chose")
    func places() throws {
        let schema = try schema(
            #"{"required":["b"],"properties":{"a":{"items":{"properties":{"c":{"type":"null"}}}}},"additionalProperties":false}"#
        )
        let found = Set(
            schema.mismatches(of: try value(#"{"a":[{},{"c":1}],"lovelace":1}"#)).map { "\($0.place): \($0.problem)" })
        #expect(found == ["b: is missing", "a.1.c: must be null", "…: is not documented"])
        #expect(schema.mismatches(of: try value(#"{"a":[{"c":1},{"c":1},{"c":1}]}"#), atMost: 2).count == 2)
    }
}
