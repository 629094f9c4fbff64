import Foundation
import HummingbirdCore
import TestSupport
import Testing

@testable import Listen

@Suite("The table of /v1/listen's parameters")
struct ListenParameterTests {
    private func query(
        _ name: String, _ value: String, at endpoint: ListenQuery.Endpoint, speaksSubQ: Bool = false
    ) throws -> ListenQuery {
        var pairs: [(Substring, Substring)] = [(name[...], value[...])]
        if name != "encoding", endpoint != .recording { pairs += [("encoding", "linear16"), ("sample_rate", "16000")] }
        return try ListenQuery(
            FlatDictionary(pairs), at: endpoint, of: ListenClientProfile(seesRefusals: false, isSubQ: false),
            speaksSubQ: speaksSubQ)
    }

    @Test("each name is there once, and a parameter has its effect or says what happens instead")
    func names() {
        let names = ListenParameter.all.flatMap { [$0.name] + $0.aliases }
        #expect(Set(names).count == names.count)
        #expect(ListenParameter.emulated.allSatisfy { $0.problem == nil })
        #expect(ListenParameter.others.allSatisfy { $0.problem != nil })
    }

    @Test("each parameter that is not emulated is told, with any value that asks for something")
    func told() throws {
        for parameter in ListenParameter.others {
            let value = parameter.form == .flag ? "true" : "7"
            let warnings = try query(parameter.name, value, at: .recording).warnings
            #expect(warnings.map(\.parameter) == [parameter.name])
            #expect(try query(parameter.name, "", at: .recording).warnings.isEmpty)
        }
    }

    @Test("each number and each flag is read: other values are refused")
    func refused() {
        for parameter in ListenParameter.emulated {
            let value: String? =
                switch parameter.form {
                case .flag: "maybe"
                case .integer(let range): String(range.upperBound + 1)
                case .number: "x"
                case .text, .list: nil
                }
            guard let value else { continue }
            #expect(throws: (any Error).self, "\(parameter.name)") { try query(parameter.name, value, at: .stream) }
        }
    }

    @Test("docs/recipes/deepgram.md lists the table; SCRIBE_WRITE_PAGES=1 writes it")
    func page() throws {
        let path = projectFile("docs/recipes/deepgram.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        let (begin, end) = ("<!-- parameters -->\n", "<!-- /parameters -->\n")
        let start = try #require(page.range(of: begin)?.upperBound)
        let stop = try #require(page.range(of: end)?.lowerBound)
        let names = { (list: [ListenParameter]) in
            list.map { parameter in ([parameter.name] + parameter.aliases).map { "`\($0)`" }.joined(separator: " or ") }
                .joined(separator: ", ")
        }
        let table = """
            | parameters | what they do |
            |---|---|
            | \(names(ListenParameter.emulated)) | as at the vendor |
            | \(names(ListenParameter.others)) | nothing; the server reports them |

            """
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] == "1" {
            let written = page[..<start] + table + page[stop...]
            try String(written).write(to: path, atomically: true, encoding: .utf8)
        } else {
            #expect(page[start..<stop] == table)
        }
    }
}
