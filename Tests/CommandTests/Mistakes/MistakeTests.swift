import Foundation
import TestSupport
import Testing

/// Mistakes of people who use the command, without a process. Those that need one are in
/// `EndToEndTests/test_mistakes.py`.
struct MistakeTests {
    @Test(
        "the error for a mistake says in a sentence or two what is wrong, where, and what helps",
        arguments: Mistake.all)
    func answers(mistake: Mistake) async throws {
        try await withinTheTimeOfATest {
            let folder = try TemporaryFolder()
            try mistake.makeFiles(in: folder)
            let before = try Self.contents(of: folder)
            let outcome = try await mistake.outcome(in: folder)
            #expect(outcome.code == mistake.code)
            let answer = try outcome.answer()
            switch mistake.answer {
            case .text(let text): #expect(answer == Mistake.filled(text, folder))
            case .beginning(let text): #expect(answer.hasPrefix(Mistake.filled(text, folder)))
            }
            let shown = outcome.output + outcome.error
            #expect(!shown.contains(Self.internals))
            #expect(answer.count { $0 == "\n" } < 3)
            #expect(!shown.contains("hidden"))
            let after = try Self.contents(of: folder)
            #expect(after.filter { before.keys.contains($0.key) } == before, "a mistake changes no file")
        }
    }

    @Test(
        "an error names the help of its own verb",
        arguments: [
            ("serve --port x", "serve"), ("ready --timeout soon", "ready"), ("trust --tls-name 'a b'", "trust"),
            ("webhooks list --config $here/nowhere.yaml", "webhooks list"), ("serve --prot 1", "serve"),
            ("hosts --address x", "hosts"),
        ])
    func ownHelp(arguments: String, verb: String) async throws {
        let outcome = try await Mistake("", arguments, "").outcome(in: TemporaryFolder())
        let lines = outcome.error.split(separator: "\n")
        #expect(lines.contains("  See 'scribe-emulator \(verb) --help' for more information."), "\(outcome.error)")
    }

    @Test("each mistake is in the list once")
    func once() {
        #expect(Set(Mistake.all.map(\.testDescription)).count == Mistake.all.count)
        let causes = Mistake.all.map { mistake in
            let files = mistake.files.map { "\($0) \($1.mode) \($1.text)" }.sorted()
            return [mistake.arguments] + files + mistake.environment.map { "\($0)=\($1)" }.sorted()
        }
        #expect(Set(causes).count == causes.count)
    }

    @Test(
        "the pattern of the program's inside finds types, system calls, numbers of errors and traces",
        arguments: [
            "errno 2", "Error Domain=NSCocoaErrorDomain", "SQLite error 26", "Optional(\"x\")", "bind(", "Problem.open",
            "Store.Folder(path", "Swift.DecodingError", "Fatal error: x", "Expected to decode", "a Mapping instead",
        ])
    func inside(text: String) {
        #expect(text.contains(Self.internals))
    }

    /// Pattern of the program's inside, which no message for people holds. `EndToEndTests/messages.py` has it too.
    private static var internals: some RegexComponent {
        #/
        errno|Error\ Domain|NSCocoa|NSPOSIX|SQLite\ error|Optional\(|CancellationError|SocketAddressError|bind\(|Errno
        |Problem\.|\b[A-Z]\w+\(|\b[A-Z]\w*Error\b|Fatal\ error|crashed|Backtrac|Traceback|Expected\ to\ decode
        |\b(?:Node|Scalar|Sequence|Mapping)\ instead
        /#
        // Within `Swift.DecodingError` there is a boundary too.
        .wordBoundaryKind(.simple)
    }

    /// The content of each file, without databases: SQLite notes in them that they were opened.
    private static func contents(of folder: TemporaryFolder) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where !name.hasSuffix(".sqlite") {
            var isFolder: ObjCBool = false
            let path = "\(folder.path)/\(name)"
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            contents[name] = try Data(contentsOf: URL(filePath: path))
        }
        return contents
    }
}

extension Outcome {
    /// Beginnings of the lines that the parser puts under a sentence: choices, the help of an option, where more is.
    private static let frame = ["  - ", "Help:  ", "Usage: ", "  See '"]

    /// The sentences that answer a mistake: of what was found on standard output, of everything else on standard error.
    fileprivate func answer() throws -> String {
        guard output.isEmpty else {
            #expect(error.isEmpty)
            return output.trimmingSuffix("\n").removingPrefix("problem: ")
        }
        let lines = error.trimmingSuffix("\n").split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.first)
        #expect(first.hasPrefix("Error: ") || first.hasPrefix("scribe-emulator: "))
        return lines.filter { line in !Self.frame.contains { line.hasPrefix($0) } }.joined(separator: "\n")
            .removingPrefix("Error: ").removingPrefix("scribe-emulator: ")
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: Character) -> String {
        String(reversed().drop { $0 == suffix }.reversed())
    }

    fileprivate func removingPrefix(_ prefix: String) -> String {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
    }
}
