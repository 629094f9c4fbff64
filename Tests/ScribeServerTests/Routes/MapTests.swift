import Foundation
import TestSupport
import Testing

/// The map of the project: what its pages name exists.
struct MapTests {
    /// Names of other programs' things, of a page's own example, and of what the first release makes.
    private static let others: Set = ["Codable", "Hello", "HelloTests", "Sources", "Tests", "Tests/Saved"]

    private static let declared: Set<String> = {
        let declaration =
            /(?:struct|enum|class|actor|protocol|typealias|extension|case|let|var|func) ([A-Z]\w*(?:\.[A-Z]\w*)*)/
        var names = Set<String>()
        for file in files where file.hasSuffix(".swift") {
            let text = (try? String(contentsOf: projectFile(file), encoding: .utf8)) ?? ""
            for match in text.matches(of: declaration) {
                names.formUnion(match.1.split(separator: ".").map(String.init))
            }
        }
        return names
    }()

    /// Files and folders of the sources and the tests, by their paths from the project's root.
    private static let files: [String] = ["Sources", "Tests"].flatMap { top in
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: projectFile(top).path)) ?? []
        return paths.map { "\(top)/\($0)" }
    }

    @Test(
        "every type, file and folder that the map names exists",
        arguments: ["docs/architecture.md", "docs/add-a-family.md"])
    func names(page: String) throws {
        let text = try String(contentsOf: projectFile(page), encoding: .utf8)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 250)
        let spans = text.matches(of: /`([^`\n]+)`/).map { String($0.1) }
        #expect(spans.count > 10)
        for span in spans {
            if span.contains("/Hello") || Self.others.contains(span) || span == "Package.swift" { continue }
            if span.wholeMatch(of: /[A-Z][A-Za-z0-9]+(?:\.[A-Za-z]\w*)?/) != nil {
                let type = span.split(separator: ".").first.map(String.init) ?? span
                let isName = type.contains { $0.isLowercase }
                let isFolder = Self.files.contains { $0.hasSuffix("/\(type)") }
                #expect(!isName || isFolder || Self.declared.contains(type), "\(page) names \(span)")
            } else if span.wholeMatch(
                of: /(?:Sources|Tests|Engines|Families|Machine|Scribe[A-Za-z]+|scribe-emulator)\/[\w\/+.-]+/) != nil
            {
                #expect(Self.files.contains { $0 == span || $0.hasSuffix("/\(span)") }, "\(page) names \(span)")
            }
        }
    }

    @Test("every symbol that a doc comment links to is declared")
    func symbols() throws {
        let sources = try Self.files.filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
            .map { try (path: $0, lines: String(contentsOf: projectFile($0), encoding: .utf8).split(separator: "\n")) }
        var declared: Set<Substring> = ["init", "subscript", "Substring"]
        for line in sources.flatMap(\.lines) where !line.contains("//") {
            for match in line.matches(of: /(?:struct|enum|class|actor|protocol|typealias|func|var|let) (\w+)/) {
                declared.insert(match.1)
            }
            guard let cases = line.firstMatch(of: /^\s*(?:indirect )?case ([^:=]*)/)?.1 else { continue }
            for match in cases.matches(of: /\w+/) { declared.insert(match.0) }
        }
        for (path, lines) in sources {
            for link in lines.filter({ $0.contains("///") }).flatMap({ $0.matches(of: /``([^`(]+)[^`]*``/) }) {
                for name in link.1.split(whereSeparator: { "/.".contains($0) }) {
                    #expect(declared.contains(name), "\(path) links to \(link.1)")
                }
            }
        }
    }
}
