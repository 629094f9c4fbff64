import ArgumentParser
import Testing

@testable import scribe_emulator

struct UnknownVerbTests {
    @Test(
        "a mistyped command or subcommand is answered with the nearest one",
        arguments: [
            (["serv"], "serv", "serve"), (["webhoks", "list"], "webhoks", "webhooks"),
            (["webhooks", "lst"], "lst", "list"), (["help", "docter"], "docter", "doctor"),
            (["hlp"], "hlp", "help"), (["help", "webhooks", "rplay"], "rplay", "replay"),
            (["ns", "creat", "t-1"], "creat", "create"), (["rest"], "rest", "reset"),
        ])
    func nearest(arguments: [String], word: String, nearest: String) {
        let unknown = UnknownCommand(in: arguments, of: Main.self)
        #expect(unknown?.word == word)
        #expect(unknown?.nearest == nearest)
    }

    @Test(
        "known commands, their arguments and their flags are left to the parser",
        arguments: [
            [], ["--help"], ["--version"], ["serve", "x"], ["backup", "file"], ["webhooks"], ["webhooks", "test", "7"],
            ["ns"], ["ns", "delete", "t-1"], ["reset", "--namespace", "t-1"],
            ["help"], ["help", "serve"], ["help", "webhooks", "list"], ["--no-such-flag", "serv"],
        ])
    func known(arguments: [String]) {
        #expect(UnknownCommand(in: arguments, of: Main.self) == nil)
    }

    @Test("every command of the program is known to the check for mistyped commands")
    func all() {
        for verb in Main.configuration.subcommands {
            #expect(UnknownCommand(in: [verb._commandName], of: Main.self) == nil)
        }
    }
}
