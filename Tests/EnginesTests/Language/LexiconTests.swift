import Foundation
import TestSupport
import Testing

@testable import Engines

/// The word lists of the rules: `lexicon/en/*.txt` and `lexicon/hi/*.txt`.
struct LexiconTests {
    private let folder = projectFile("Sources/Engines/Language/lexicon")

    private func files() throws -> [(path: String, lists: [(name: String?, lines: [String])])] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }.sorted()
            .map { path in
                let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                var lists: [(name: String?, lines: [String])] = [(nil, [])]
                for line in text.split(separator: "\n").map(String.init) where !line.hasPrefix("#") {
                    if line.hasPrefix("[") {
                        lists.append((String(line.dropFirst().dropLast()), []))
                    } else {
                        lists[lists.count - 1].lines.append(line)
                    }
                }
                return (path, lists.filter { $0.name != nil || !$0.lines.isEmpty })
            }
    }

    @Test("word lists and their lines are sorted by bytes, without duplicates and in lower case")
    func sorted() throws {
        for (path, lists) in try files() {
            let names = lists.compactMap(\.name)
            #expect(names == Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "\(path)")
            #expect(!lists.isEmpty, "\(path)")
            for (name, lines) in lists {
                let list = "\(path) \(name ?? "")"
                let sorted = lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                for (line, expected) in zip(lines, sorted) where line != expected {
                    Issue.record("\(list): '\(line)' is where '\(expected)' belongs")
                    break
                }
                let phrases = lines.map {
                    $0.split(separator: "=", maxSplits: 1)[0].trimmingCharacters(in: .whitespaces)
                }
                let repeated = Dictionary(grouping: phrases) { $0 }.filter { $0.value.count > 1 }.keys
                #expect(repeated.isEmpty, "\(list)")
                #expect(phrases.filter { $0 != $0.lowercased() || $0.isEmpty }.isEmpty, "\(list)")
            }
        }
    }

    @Test("a comment above each list says what it is")
    func comments() throws {
        for (path, lists) in try files() {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            for (name, _) in lists {
                let list = name.map { "\n[\($0)]\n" } ?? "\n"
                let before = text.components(separatedBy: list)[0]
                #expect(before.split(separator: "\n").last?.hasPrefix("# ") ?? false, "\(path) \(name ?? "")")
            }
        }
    }

    @Test("every file of the lexicon is part of the program")
    func embedded() throws {
        for (path, lists) in try files() {
            let file = path.dropLast(".txt".count).replacing(#/^en//#, with: "")
            for (name, lines) in lists {
                #expect(Lexicon.words(name.map { "\(file)/\($0)" } ?? String(file)) == lines, "\(path) \(name ?? "")")
            }
        }
    }

    @Test("every list that the code names exists, and every list is named")
    func named() throws {
        let sources = projectFile("Sources/Engines")
        var named: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where path.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            named.formUnion(text.matches(of: #/Lexicon\.[a-z]+\("([a-z/-]+)"/#).map { String($0.1) })
            if path.hasSuffix("Language/Lexicon.swift") {
                named.formUnion(text.matches(of: #/ = set\("([a-z/-]+)"/#).map { String($0.1) })
            }
            if path.hasSuffix("Language/Terms.swift") {
                named.formUnion(text.matches(of: #/, "([a-z-]+)"\)/#).map { String($0.1) })
            }
        }
        #expect(named.symmetricDifference(Lexicon.lists.keys).sorted() == [])
    }
}
