import Testing

@testable import scribe_emulator

struct ProcessArgumentsTests {
    @Test(
        "the list of processes shows asterisks in place of credentials",
        arguments: [
            (["serve", "--port", "1"], ["serve", "--port", "1"]),
            (["serve", "--admin-token", "hush", "--port", "1"], ["serve", "--admin-token", "****", "--port", "1"]),
            (["serve", "--admin-token=hush"], ["serve", "--admin-token=****"]),
            (["serve", "--admin-token", "--strict"], ["serve", "--admin-token", "--strict"]),
            (
                ["serve", "--database", "postgres://me:hush@host/db?x=a@b"],
                ["serve", "--database", "postgres://*******@host/db?x=a@b"]
            ),
            (["serve", "--database=postgres://me@host/db"], ["serve", "--database=postgres://**@host/db"]),
            (["doctor", "--url", "http://host/a@b"], ["doctor", "--url", "http://host/a@b"]),
            (["x", "--token", ""], ["x", "--token", ""]), ([], []),
        ])
    func hidden(words: [String], shown: [String]) {
        func bytes(_ words: [String]) -> [UInt8] { words.flatMap { Array($0.utf8) + [0] } }
        #expect(ProcessArguments.hidden(bytes(words)) == bytes(shown))
    }
}
