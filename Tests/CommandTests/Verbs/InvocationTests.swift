import Testing

@testable import scribe_emulator

struct InvocationTests {
    @Test(
        "help and the version go to standard output, with exit code 0",
        arguments: [["--version"], ["version"], ["--help"], ["help", "serve"], ["webhooks", "--help"], ["webhooks"]])
    func help(arguments: [String]) async {
        let outcome = await Outcome(of: arguments)
        #expect(outcome.code == 0)
        #expect(!outcome.output.isEmpty)
        #expect(outcome.error.isEmpty)
    }

    @Test("a command reads the environment of its invocation alone")
    func environment() async {
        let other = await Outcome(of: ["config", "print"], environment: ["SCRIBE_PORT": "1001"])
        #expect(other.output.contains("port: 1001  # SCRIBE_PORT\n"))
        #expect(await Outcome(of: ["config", "print"]).output.contains("port: 8087  # default\n"))
    }

    @Test("a command reads the standard input of its invocation")
    func input() async {
        let outcome = await Outcome(of: ["note", "--format", "transcript"], input: "Patient: I have a cough.\n")
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("I have a cough."))
        #expect(outcome.error.isEmpty)
    }
}
