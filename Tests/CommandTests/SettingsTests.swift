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
            flags: [.port: "1003"], configFile: path,
            environment: ["SCRIBE_PORT": "1002", "SCRIBE_LONG_POLL": "500ms"]
        )
        let configuration = try settings.configuration()
        #expect(configuration.port == 1003)
        #expect(configuration.longPoll == .milliseconds(500))
        #expect(configuration.host == "localhost")
        #expect(configuration.isEphemeral)
        #expect(configuration.jobs.objectWait == .seconds(10))
    }

    @Test(
        "as many recognitions run as are asked for, and results are put together beside them",
        arguments: [("fake", 7), ("openai:http://127.0.0.1:9/v1", 2)])
    func concurrency(transcriber: String, assemblies: Int) throws {
        let settings = try Settings(
            flags: [.transcriber: transcriber, .transcriberConcurrency: "7"], configFile: nil, environment: [:])
        let configuration = try settings.configuration()
        #expect(configuration.recognition.concurrency == 7)
        #expect(configuration.jobs.transcriptions == 7)
        #expect(configuration.jobs.assemblies == assemblies)
    }

    @Test("every setting can be set in all three places", arguments: SettingKey.allCases)
    func twins(key: SettingKey) throws {
        let path = try file("\(key.rawValue): x")
        _ = try Settings(flags: [key: "x"], configFile: path, environment: [key.environmentName: "x"])
        #expect(key.environmentName.hasPrefix("SCRIBE_"))
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
        "a value that cannot be is refused, and the message says where it came from",
        arguments: [
            (SettingKey.port, "99999"), (.port, "x"), (.auth, "none"), (.durability, "maybe"), (.longPoll, "soon"),
            (.transcriber, "whisper"), (.ephemeral, "perhaps"), (.objectWait, "-1s"),
        ]
    )
    func invalid(key: SettingKey, text: String) throws {
        let settings = try Settings(flags: [:], configFile: nil, environment: [key.environmentName: text])
        #expect { try settings.configuration() } throws: {
            "\($0)".contains(key.environmentName) && "\($0)".contains("'\(text)'")
        }
    }

    @Test(
        "times are read with their unit",
        arguments: [("14", 14), ("14s", 14), ("0.5s", 0.5), ("500ms", 0.5), ("2m", 120), ("", nil), ("5h", 18_000)]
            as [(String, Double?)]
    )
    func durations(text: String, seconds: Double?) {
        #expect(Settings.duration(text) == seconds.map { .seconds($0) })
    }

    @Test("a program with arguments is a transcriber")
    func command() throws {
        let settings = try Settings(
            flags: [.transcriber: "command:/opt/stt/run --model 'a b' {wav}"], configFile: nil, environment: [:]
        )
        #expect(try settings.configuration().transcriber == .command("/opt/stt/run --model 'a b' {wav}"))
    }

    @Test("the signing key comes from the environment or a file, without its line end")
    func signingKey() throws {
        let path = try folder.write(Data("0123456789abcdef0123456789abcdef\n".utf8), as: "key")
        let fromFile = try Settings(flags: [.signingKeyFile: path], configFile: nil, environment: [:])
        #expect(try fromFile.configuration().signingKey?.count == 32)
        let fromEnvironment = try Settings(
            flags: [.signingKeyFile: path], configFile: nil, environment: ["SCRIBE_SIGNING_KEY": "abc"]
        )
        #expect(try fromEnvironment.configuration().signingKey == Array("abc".utf8))
    }

    @Test("every setting is on its page, and everything on the page is a setting")
    func page() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/configuration.md"), encoding: .utf8)
        let keys = page.split(separator: "\n").filter { $0.hasPrefix("| `") }
            .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        #expect(keys.sorted() == SettingKey.allCases.map(\.rawValue).sorted())
    }
}
