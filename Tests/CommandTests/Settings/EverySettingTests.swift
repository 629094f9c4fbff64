import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import scribe_emulator

/// Rules that hold for all settings alike, over the whole table of them.
struct EverySettingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func file(_ yaml: String) throws -> String { try folder.write(Data(yaml.utf8), as: "scribe.yaml") }

    func setting(_ name: String) throws -> Setting { try #require(Setting.all.first { $0.name == name }) }

    /// All that the settings of an environment come to: values with their origins, problems without them.
    func settings(_ environment: [String: String], file: String? = nil) -> Settings {
        Invocation.$current.withValue(.ofTest(environment: environment)) {
            Settings(collecting: [:], configFile: file, environment: Invocation.current.environment)
        }
    }

    func lines(_ settings: Settings) -> [String] {
        settings.entries.map(\.line) + settings.keyVariables + settings.warnings
            + (settings.problems + settings.result().problems).map(\.description)
    }

    static let variables =
        Setting.all.map(\.environmentName) + Setting.exportedNames
        + [Setting.configName, Setting.signingKeyName, Setting.sttKeyName, "XDG_DATA_HOME", "SCRIBE_UNKNOWN"]

    @Test("an empty variable is an unset one", arguments: variables)
    func emptyVariable(name: String) {
        let (empty, unset) = (settings([name: "", "HOME": "/h"]), settings(["HOME": "/h"]))
        #expect(lines(empty) == lines(unset))
        #expect("\(empty.result().run)" == "\(unset.result().run)")
    }

    @Test(
        "verbs do the same with all variables empty as with none",
        arguments: ["config print", "config check", "trust --for mac", "ready --timeout 0s", "env", "reset", "move"])
    func emptyVariables(verb: String) async {
        let words = verb.split(separator: " ").map(String.init)
        let empty = Dictionary(uniqueKeysWithValues: Self.variables.map { ($0, "") })
        let (one, other) = await (Outcome(of: words, environment: empty), Outcome(of: words))
        #expect(one.code == other.code)
        #expect(one.output + one.error == other.output + other.error)
    }

    @Test("an empty key of the file is unset, and an empty variable hides no key", arguments: Setting.all.map(\.name))
    func emptyKey(name: String) throws {
        #expect(lines(settings([:], file: try file("\(name):\n"))) == lines(settings([:])))
        let path = try file("\(name): x\n")
        let shown = lines(settings([try setting(name).environmentName: ""], file: path))
        #expect(shown == lines(settings([:], file: path)))
        #expect(shown.contains { $0.contains("\(name) in \(path)") })
    }

    @Test("an empty flag is an empty list, or a mistake", arguments: Setting.all.filter { !$0.isSwitch }.map(\.name))
    func emptyFlag(name: String) async throws {
        let outcome = await Outcome(of: ["config", "check", "--\(name)", ""])
        let isRefused = try !setting(name).valueType.takesList
        #expect((outcome.code != 0) == isRefused)
        #expect((outcome.output + outcome.error).contains("is empty; ") == isRefused)
    }

    @Test("each setting whose help names a file or a folder is a path")
    func pathSettings() {
        let others = Setting.all.filter { $0.valueType != .path && $0.help.contains(/\b([Ff]ile|folder)\b/) }
        #expect(
            others.map(\.name) == ["database", "ephemeral", "allow-reset", "transcriber", "admin-token", "object-wait"])
    }

    /// The home folder, in each way to write it.
    static let homes = ["~", "$HOME", "${HOME}"]

    @Test(
        "~ and $HOME begin a path in the home folder of the environment, in a flag, a variable and the file",
        arguments: Setting.all.filter { $0.valueType == .path }.map(\.name))
    func home(name: String) throws {
        _ = try folder.write(Data("hidden".utf8), as: "x")
        let variable = try setting(name).environmentName
        for (home, tail) in Self.homes.flatMap({ [($0, "/x"), ($0, "")] }) {
            let expected = values(settings([variable: folder.path + tail, "HOME": folder.path]))
            #expect(values(settings([variable: home + tail, "HOME": folder.path])) == expected)
            let yaml = try file("\(name): '\(home)\(tail)'\n")
            #expect(values(settings(["HOME": folder.path], file: yaml)) == expected)
        }
        let given = try Invocation.$current.withValue(.ofTest(environment: ["HOME": folder.path])) {
            try SettingFlags.parse(["--\(name)=~/x"]).given
        }
        #expect(given == [name: "\(folder.path)/x"])
    }

    /// The values of all settings and the problems with them, without their origins.
    func values(_ settings: Settings) -> [String] {
        Invocation.$current.withValue(.ofTest(environment: ["HOME": folder.path])) {
            let (run, problems) = settings.result()
            return ["\(run)"] + problems.map { $0.description.replacing(/^.*?: ('.*' )?/, with: "") }
        }
    }

    @Test("any other path stays as it is", arguments: ["x", "./~/x", "a~", "$HOMER/x", "/a/~/x", "$", "-"])
    func otherPath(path: String) throws {
        #expect(try Setting.path(path) == path)
    }

    @Test(
        "a path in the home folder of another user, or of none, is refused",
        arguments: [
            ("~bob/x", "is in the home folder of another user; write the whole path"),
            ("~/x", "is in the home folder, and HOME is not set; write the whole path"),
        ])
    func otherHome(path: String, problem: String) async {
        for environment in [["SCRIBE_DATA_DIR": path], ["SCRIBE_CONFIG": path]] {
            let outcome = await Outcome(of: ["config", "check"], environment: environment)
            #expect(outcome.code == 1)
            #expect(outcome.output.contains(problem))
        }
        let outcome = await Outcome(of: ["backup", "--data-dir=\(path)", "x"])
        #expect(outcome.code == 2)
        #expect(outcome.error.contains("'\(path)' is invalid for '--data-dir <path>': it \(problem)"))
    }

    // MARK: Lists and URLs

    /// Values as people write them in lists, by what is odd about them.
    static let odd = [
        "quotes": #""https://a.example""#, "JSON": #"["https://a.example","https://b.example"]"#,
        "userinfo": "https://u:p@a.example", "port": "https://a.example:443", "wildcard": "https://*.staging.example",
        "bare wildcard": "*.staging.example", "host and port": "a.example:8443", "path": "https://a.example/",
        "letters": "https://käfer.example", "range": "10.0.0.0/8", "spaces": " A.Example, ,b.example ",
        "semicolons": "a.example;b.example",
    ]
    /// The odd values that a list setting takes, because they work there.
    static let taken: [String: Set<String>] = [
        "tls-name": ["bare wildcard", "spaces"], "trusted-proxies": ["range"], "cors-origins": ["port", "wildcard"],
        "allowed-hosts": ["bare wildcard", "spaces"], "client-profiles": [], "outbound-allow": ["range", "spaces"],
        "webhook-pauses": [], "listen-models": ["spaces"], "stt-prompt": Set(odd.keys), "seed": Set(odd.keys),
        "note-rules-templates": ["spaces"], "faults": Set(odd.keys),
    ]

    @Test(
        "a list setting takes an odd value only if it can match",
        arguments: Setting.all.filter(\.valueType.takesList).map(\.name))
    func oddLists(name: String) throws {
        let (taken, variable) = (try #require(Self.taken[name]), try setting(name).environmentName)
        for (kind, value) in Self.odd {
            let problems = settings([variable: value]).result().problems
            #expect(problems.isEmpty == taken.contains(kind), "\(kind): \(problems)")
            for problem in problems { #expect(problem.description.hasPrefix("\(variable): '")) }
        }
    }

    @Test(
        "a URL with a port that there is not is refused",
        arguments: [
            ("public-url", "https://a.example:99999"), ("public-url", "https://a.example:0"),
            ("transcriber", "openai:http://a.example:99999/v1"),
            ("fallback-transcriber", "deepgram:http://a.example:0"),
            ("firebase-jwks-url", "https://a.example:99999/"), ("objects", "s3://b?endpoint=http://a.example:99999"),
            ("database", "postgres://a.example:99999/d"),
        ])
    func ports(name: String, url: String) async {
        let outcome = await Outcome(of: ["config", "check", "--\(name)", url])
        #expect(outcome.code == 1)
        #expect(outcome.output.hasPrefix("problem: --\(name): '"))
    }

    @Test(
        "the host is an address or a name, an IPv6 address with brackets or without",
        arguments: [
            ("[::1]", "::1"), ("0:0:0:0:0:0:0:1", "::1"), ("LOCALHOST", "localhost"), ("127.0.0.1", "127.0.0.1"),
            ("[::]", "::"), ("fe80::1%eth0", "fe80::1%eth0"), ("[127.0.0.1]", nil), ("[::1", nil), ("[::1]:8087", nil),
            ("127.0.0.1:8087", nil), ("http://localhost", nil), ("a b", nil), ("*", nil), ("a,b", nil),
        ] as [(String, String?)])
    func host(text: String, host: String?) {
        #expect((try? Setting.Parser<String>.address.read(text)) == host)
    }

    // MARK: Paths of verbs

    /// A command as `--experimental-dump-help` prints it.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable { let name: String }
            let kind: String
            let isOptional: Bool
            let isRepeating: Bool
            let valueName: String?
            let preferredName: Name?
            let abstract: String?
        }
        let commandName: String
        let subcommands: [Command]?
        let arguments: [Argument]?

        func leaves(_ above: [String] = []) -> [(words: [String], arguments: [Argument])] {
            let words = above + [commandName]
            return (subcommands ?? []).isEmpty
                ? [(words, arguments ?? [])] : (subcommands ?? []).flatMap { $0.leaves(words) }
        }
    }

    @Test("each path of each verb may begin with the home folder")
    func verbs() throws {
        struct Tool: Decodable { let command: Command }
        let tool = try JSONDecoder().decode(Tool.self, from: Data(Main._dumpHelp().utf8))
        var paths = 0
        for (words, arguments) in tool.command.leaves() where words.dropFirst().first != "help" {
            var line = Array(words.dropFirst())
            var wanted: [String] = []
            // The paths among the settings are in the test above.
            let settings = arguments.contains { $0.preferredName?.name == "long-poll" } ? Setting.all.map(\.name) : []
            for argument in arguments where argument.kind != "flag" {
                let name = argument.kind == "option" ? argument.preferredName?.name : nil
                let isPath =
                    ["path", "file"].contains(argument.valueName)
                    || ["config", "data-dir"].contains(name) || argument.abstract?.hasPrefix("The file") == true
                guard isPath || !argument.isOptional, !settings.contains(name ?? ""), argument.valueName != "command"
                else { continue }
                let own = "\(argument.valueName ?? "")-\(wanted.count)"
                let value = isPath ? "~/\(own)" : argument.isRepeating ? "status=503" : "1"
                line += name.map { ["--\($0)=\(value)"] } ?? [value]
                if isPath { wanted.append("/home/h/\(own)") }
            }
            guard !wanted.isEmpty else { continue }
            paths += wanted.count
            if words.last == "exec" { line += ["--", "true"] }
            let parsed = try Invocation.$current.withValue(.ofTest(environment: ["HOME": "/home/h"])) {
                String(reflecting: try Main.parseAsRoot(line))
            }
            for path in wanted { #expect(parsed.contains(path), "\(line)") }
            #expect(!parsed.contains("~/"), "\(line)")
        }
        #expect(paths > 80, "options of all verbs were found: \(paths)")
    }
}
