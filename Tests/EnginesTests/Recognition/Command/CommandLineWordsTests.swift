import Foundation
import NIOPosix
import TestSupport
import Testing

@testable import Engines

struct CommandLineWordsTests {
    @Test(
        "a transcriber's command line is split as a shell would, and nothing in it is expanded",
        arguments: [
            ("run {wav}", ["run", "{wav}"]),
            ("  a   b  ", ["a", "b"]),
            ("'a b' \"c d\"", ["a b", "c d"]),
            (#"a\ b "c\"d" 'e\f'"#, ["a b", "c\"d", #"e\f"#]),
            (#""a\nb""#, [#"a\nb"#]),
            ("x'y'\"z\"", ["xyz"]),
            ("'' \"\"", ["", ""]),
            ("$HOME `id` $(id) *; rm", ["$HOME", "`id`", "$(id)", "*;", "rm"]),
            ("", []),
        ]
    )
    func splitting(line: String, words: [String]) throws {
        #expect(try CommandLineWords.split(line) == words)
    }

    @Test("a command line with an open quote is refused")
    func openQuote() {
        #expect(throws: CommandLineWords.Problem.openQuote) { try CommandLineWords.split("run 'x") }
        #expect(throws: CommandLineWords.Problem.trailingBackslash) { try CommandLineWords.split("run \\") }
    }
}
