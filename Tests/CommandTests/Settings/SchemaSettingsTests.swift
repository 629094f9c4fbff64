import ArgumentParser
import Console
import Foundation
import TestSupport
import Testing

@testable import scribe_emulator

/// The YAML file of settings, its schema, and the help that is made from the same list.
struct SchemaSettingsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func file(_ yaml: String) throws -> String { try folder.write(Data(yaml.utf8), as: "scribe.yaml") }

    @Test("docs/settings.schema.json is the settings' generated schema; SCRIBE_WRITE_PAGES=1 writes it")
    func pageOfSchema() throws {
        let page = projectFile("docs/settings.schema.json")
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] == "1" {
            try Setting.fileSchema.write(to: page, atomically: true, encoding: .utf8)
        } else {
            let text = try String(contentsOf: page, encoding: .utf8)
            #expect(text == Setting.fileSchema, "docs/settings.schema.json is stale: make pages")
        }
    }

    @Test("the settings schema lists every name of every setting, with its default")
    func schemaKeys() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(Setting.fileSchema.utf8)) as? [String: Any]
        let properties = try #require(schema?["properties"] as? [String: [String: Any]])
        #expect(Set(properties.keys) == Set(Setting.all.map(\.name)))
        for setting in Setting.all {
            let value = properties[setting.name]?["default"]
            #expect((value == nil) == setting.defaultText.isEmpty, "\(setting.name)")
            if setting.isSwitch, !setting.defaultText.isEmpty {
                #expect(value as? Bool == (setting.defaultText == "true"))
            }
        }
    }

    @Test("a list in the settings file equals its values joined with commas", arguments: Setting.all.map(\.name))
    func lists(name: String) throws {
        let setting = try #require(Setting.all.first { $0.name == name })
        let path = try file("\(name):\n  - 10s\n  - 60s\n")
        let settings = Settings(collecting: [:], configFile: path, environment: [:])
        if setting.valueType.takesList {
            #expect(settings.problems.isEmpty)
            #expect(settings.entries.first { $0.setting.name == name }?.text == "10s,60s")
        } else {
            #expect(settings.problems.map(\.description) == ["\(path): '\(name)' must be a single value"])
        }
    }

    @Test(
        "a list in the settings file holds single values without commas",
        arguments: ["[[a]]", "[{a: b}]", "{a: b}", #"["https://a.example,https://b.example"]"#])
    func oddLists(value: String) throws {
        let settings = Settings(
            collecting: [:], configFile: try file("cors-origins: \(value)"), environment: [:])
        #expect(settings.problems.first?.description.contains("or a list of single values") == true)
    }

    @Test("the check of settings reports every problem, and a start reports the first")
    func problems() throws {
        let path = try file("prot: 1\nhost: [a]\nport: x\n")
        let environment = ["SCRIBE_LONG_POLL": "soon", "SCRIBE_EPHEMERAL": "true", "SCRIBE_DATA_DIR": "d"]
        let settings = Settings(collecting: [:], configFile: path, environment: environment)
        #expect(settings.problems.count == 2)
        #expect(settings.result().problems.count == 3)
        #expect { try Settings(flags: [:], configFile: path, environment: environment) } throws: {
            "\($0)" == settings.problems.first?.description
        }
    }

    @Test("a printed setting names the source of its value, and secrets are masked")
    func entries() throws {
        let path = try file("port: 1001\nhost: localhost")
        let settings = Settings(
            collecting: ["port": "1003"], configFile: path,
            environment: [
                "SCRIBE_ADMIN_TOKEN": "hidden",
                "SCRIBE_TRANSCRIBER": "openai:http://u:hidden@127.0.0.1:9/v1?key=hidden",
            ])
        let lines = settings.entries.map(\.line)
        #expect(lines.contains("port: 1003  # --port"))
        #expect(lines.contains("host: \"localhost\"  # host in \(path)"))
        #expect(lines.contains("tls: false  # default"))
        #expect(lines.contains("# admin-token: ***  # SCRIBE_ADMIN_TOKEN"))
        #expect(lines.contains("# transcriber: \"openai:http://***@127.0.0.1:9/v1?***\"  # SCRIBE_TRANSCRIBER"))
        #expect(lines.contains("# stt-model:  # default: whisper-1; nova-3-medical"))
        #expect(!lines.contains { $0.contains("hidden") })
        #expect(lines.count == Setting.all.count)
        // The console shows the same, never blank and with a sentence for each.
        let shown = settings.entries.map(\.shown)
        #expect(shown.allSatisfy { !($0.value ?? $0.defaultWords).isEmpty && $0.summary.hasSuffix(".") })
        #expect(!shown.contains { $0.value?.contains("hidden") == true })
        #expect(shown.first { $0.name == "admin-token" }?.value == "***")
    }

    @Test("the help of serve has groups, and a default for each setting that has one")
    func helpGroups() throws {
        let help = Serve.helpMessage(columns: 1000)
        let groups: [(title: String, settings: [Setting])] = [
            ("ADDRESS, TLS AND DATA", Setting.place), ("RECOGNISER", Setting.speech), ("ACCESS", Setting.access),
            ("BEHAVIOUR, LIMITS AND LOGS", Setting.behaviour + Setting.limits),
        ]
        var rest = help[...]
        for (title, settings) in groups {
            let heading = try #require(rest.range(of: "\(title):"), "\(title)")
            rest = rest[heading.upperBound...]
            for setting in settings { #expect(rest.contains("--\(setting.name)"), "\(setting.name)") }
        }
        #expect(help.contains("The port to listen on; 0 picks a free one. (default: 8087)"))
        for setting in Setting.all {
            guard let words = setting.defaultWords, !setting.help.contains("by default") else { continue }
            #expect(help.contains("\(setting.help) (default: \(words))"), "\(setting.name)")
        }
    }
}
