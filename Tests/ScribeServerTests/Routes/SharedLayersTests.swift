import Foundation
import TestSupport
import Testing

/// What the layers below the families know of vendors: nothing.
struct SharedLayersTests {
    private static let vendors: Set = ["eka", "ekascribe", "suki", "omi", "alliance", "deepgram", "subq", "aldea"]
    private static let layers = [
        "Basics", "Connections", "Journal", "Outbound", "ScribeDomain", "ScribeHTTP", "ScribeRuntime", "ScribeStore",
    ]

    private static let sources = projectFile("Sources")

    /// The words of a text in lower case: letters that stand together, each hump of a name by itself.
    private static func words(in text: some StringProtocol) -> [String] {
        var words: [String] = []
        var last: Character?
        let characters = Array(text)
        for (index, character) in characters.enumerated() {
            if !character.isASCII || !character.isLetter {
                last = nil
                continue
            }
            // The last capital of a row is the next name's: `HTTPSuki` is of HTTP and Suki.
            let next = index + 1 < characters.count ? characters[index + 1] : " "
            let begins =
                last == nil || character.isUppercase && (last?.isLowercase == true || next.isASCII && next.isLowercase)
            if begins { words.append("") }
            words[words.count - 1].append(Character(character.lowercased()))
            last = character
        }
        return words
    }

    /// The code without its comments; literals stay.
    private static func code(of source: String) -> String {
        var code = ""
        var isText = false
        var isBlock = false
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            // A literal of several lines holds no comment of Swift's.
            let quotes = line.components(separatedBy: "\"\"\"").count - 1
            if isText || quotes > 0 {
                code += line + "\n"
                if quotes % 2 == 1 { isText.toggle() }
                continue
            }
            var kept = line[...]
            if isBlock {
                guard let end = kept.range(of: "*/") else { continue }
                kept = kept[end.upperBound...]
                isBlock = false
            }
            var inLiteral = false
            var index = kept.startIndex
            while index < kept.endIndex {
                let rest = kept[index...]
                if rest.first == "\"", code.last != "\\" { inLiteral.toggle() }
                if !inLiteral, rest.hasPrefix("//") { break }
                if !inLiteral, rest.hasPrefix("/*") {
                    isBlock = true
                    break
                }
                code.append(rest[index])
                index = kept.index(after: index)
            }
            code += "\n"
        }
        return code
    }

    @Test("names and string literals in the shared layers name no vendor", arguments: layers)
    func vendors(layer: String) throws {
        let folder = Self.sources.appending(path: layer)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(paths.count > 5)
        for path in paths {
            let code = Self.code(of: try String(contentsOf: folder.appending(path: path), encoding: .utf8))
            let found = Self.vendors.intersection(Self.words(in: code) + Self.words(in: path))
            #expect(found.isEmpty, "\(layer)/\(path)")
        }
    }

    @Test("the search for vendors covers names and string literals, and no comments")
    func finding() {
        func found(_ source: String) -> Set<String> { Self.vendors.intersection(Self.words(in: Self.code(of: source))) }
        #expect(found("let sukiToken = 1 // eka") == ["suki"])
        #expect(found("struct HTTPSuki {}; let EMREka = 1") == ["suki", "eka"])
        #expect(found("case format = \"eka_emr\"") == ["eka"])
        #expect(found("/// Deepgram's\nfunc omitting() {}") == [])
        #expect(found("\"\"\"\nCHECK (style IN ('alliance'))\n\"\"\"") == ["alliance"])
        #expect(found("/* Suki\nOmi */ let subQ = \"//aldea\"") == ["aldea"])
    }
}
