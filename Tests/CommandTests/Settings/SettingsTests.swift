import ArgumentParser
import Eka
import Engines
import Foundation
import ScribeRuntime
import ScribeServer
import TestSupport
import Testing

@testable import scribe_emulator

struct SettingsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func file(_ yaml: String) throws -> String { try folder.write(Data(yaml.utf8), as: "scribe.yaml") }

    @Test("a flag wins over the environment, the environment over the file, the file over the default")
    func precedence() throws {
        let path = try file("port: 1001\nhost: localhost\nlong-poll: 3s\nephemeral: true")
        let settings = try Settings(
            flags: ["port": "1003"], configFile: path,
            environment: ["SCRIBE_PORT": "1002", "SCRIBE_LONG_POLL": "500ms"]
        )
        let configuration = try settings.run().configuration
        #expect(configuration.port == 1003)
        #expect(configuration.eka.longPoll == .milliseconds(500))
        #expect(configuration.host == "localhost")
        #expect(configuration.isEphemeral)
        #expect(configuration.jobs.objectWait == .seconds(10))
    }

    @Test(
        "transcriber-concurrency sets the number of recognitions, and assembly jobs run beside them",
        arguments: [("fake", 7, 7), ("openai:http://127.0.0.1:9/v1", 15, 2)])
    func concurrency(transcriber: String, transcriptions: Int, assemblies: Int) throws {
        let settings = try Settings(
            flags: ["transcriber": transcriber, "transcriber-concurrency": "7"], configFile: nil, environment: [:])
        let configuration = try settings.run().configuration
        #expect(configuration.recognition.concurrency == 7)
        #expect(configuration.jobs.transcriptions == transcriptions)
        #expect(configuration.jobs.assemblies == assemblies)
    }

    @Test(
        "every setting can be set by flag, by environment variable and in the settings file",
        arguments: Setting.all.map(\.name))
    func twins(name: String) throws {
        let setting = try #require(Setting.all.first { $0.name == name })
        let path = try file("\(name): x")
        let flag = setting.isSwitch ? ["--no-\(name)"] : ["--\(name)", "x"]
        let flags = try SettingFlags.parse(flag)
        #expect(flags.given == [name: setting.isSwitch ? "false" : "x"])
        _ = try Settings(
            flags: flags.given, configFile: path, environment: [setting.environmentName: "x"])
        #expect(setting.environmentName.hasPrefix("SCRIBE_"))
    }

    @Test("no two settings have one name, and each documented default equals the server's default")
    func defaults() throws {
        #expect(Set(Setting.all.map(\.name)).count == Setting.all.count)
        for setting in Setting.all where !setting.defaultText.isEmpty {
            var run = Setting.Run()
            try setting.apply(setting.defaultText, &run)
            #expect("\(run)" == "\(Setting.Run())", "\(setting.name)")
        }
    }

    @Test("the help of serve lists every setting with its flag")
    func help() {
        let help = Serve.helpMessage()
        for setting in Setting.all { #expect(help.contains("--\(setting.name)"), "\(setting.name)") }
    }

    @Test("an unknown key in the file is refused with the nearest known one")
    func unknownKey() throws {
        let path = try file("data_dri: x")
        #expect {
            try Settings(flags: [:], configFile: path, environment: [:])
        } throws: {
            "\($0)".contains("'data_dri' is not a setting; did you mean 'data-dir'?")
        }
    }

    @Test("an unknown variable is reported with the nearest known one")
    func unknownVariable() throws {
        let settings = try Settings(flags: [:], configFile: nil, environment: ["SCRIBE_PROT": "1", "HOME": "/"])
        #expect(settings.warnings == ["SCRIBE_PROT is not a setting; did you mean SCRIBE_PORT?"])
    }

    @Test(
        "an invalid setting is refused, and the message names its source and its value",
        arguments: [
            ("PORT", "99999"), ("PORT", "x"), ("AUTH", "none"), ("DURABILITY", "maybe"), ("LONG_POLL", "soon"),
            ("TRANSCRIBER", "whisper"), ("TRANSCRIBER", "whisper:http://x"), ("TRANSCRIBER", "openai:"),
            ("TRANSCRIBER", "openai:ftp://x"), ("TRANSCRIBER", "deepgram:nowhere"), ("EPHEMERAL", "perhaps"),
            ("OBJECT_WAIT", "-1s"), ("STT_LONGEST", "10ms"),
            ("ACCESS_TOKEN_LIFETIME", "0s"), ("STORAGE_QUOTA", "much"), ("CORS_ORIGINS", "app.example"),
            ("CLIENT_PROFILES", "app=fax"), ("STT_KEY_FILE", "/nowhere"), ("NAMESPACES", "perhaps"),
            ("NAMESPACES_MAX", "0"), ("NAMESPACES_MAX", "100001"), ("NAMESPACE_IDLE", "0s"),
        ]
    )
    func invalid(name: String, text: String) throws {
        let settings = try Settings(flags: [:], configFile: nil, environment: ["SCRIBE_\(name)": text])
        #expect { try settings.run() } throws: {
            "\($0)".contains("SCRIBE_\(name)") && "\($0)".contains("'\(text)'")
        }
    }

    @Test(
        "a duration setting is read with its unit, and as seconds without one",
        arguments: [("14", 14), ("14s", 14), ("0.5s", 0.5), ("500ms", 0.5), ("2m", 120), ("", nil), ("5h", 18_000)]
            as [(String, Double?)]
    )
    func durations(text: String, seconds: Double?) {
        #expect(Duration(setting: text) == seconds.map { .seconds($0) })
    }

    @Test("the transcriber setting accepts a program with arguments")
    func command() throws {
        let settings = try Settings(
            flags: ["transcriber": "command:/opt/stt/run --model 'a b' {wav}"], configFile: nil, environment: [:]
        )
        #expect(try settings.run().configuration.transcriber == .command("/opt/stt/run --model 'a b' {wav}"))
    }

    @Test("the signing key comes from the environment or a file, without its line end")
    func signingKey() throws {
        let path = try folder.write(Data("0123456789abcdef0123456789abcdef\n".utf8), as: "key")
        let fromFile = try Settings(flags: ["signing-key-file": path], configFile: nil, environment: [:])
        #expect(try fromFile.run().configuration.signingKey?.count == 32)
        let fromEnvironment = try Settings(
            flags: ["signing-key-file": path], configFile: nil, environment: ["SCRIBE_SIGNING_KEY": "abc"]
        )
        #expect(try fromEnvironment.run().configuration.signingKey == Array("abc".utf8))
    }

    @Test("docs/configuration.md has the settings' generated table; SCRIBE_WRITE_PAGES=1 writes it")
    func page() throws {
        let page = projectFile("docs/configuration.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let rows = lines.indices.filter { lines[$0].hasPrefix("|") }
        let (first, last) = (try #require(rows.first), try #require(rows.last))
        let written = (lines[..<first] + [Setting.pageTable[...]] + lines[(last + 1)...]).joined(separator: "\n")
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] == "1" {
            try written.write(to: page, atomically: true, encoding: .utf8)
        } else {
            #expect(text == written, "docs/configuration.md is stale: make pages")
        }
    }
}
