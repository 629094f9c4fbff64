import ArgumentParser
import Foundation

/// The flags of `serve`, one for each ``Setting``. The parser finds out about flags by reflection, so that a list of them
/// can stand in the place of as many properties: help, completion and "did you mean" come with it.
struct SettingFlags: ParsableArguments, CustomReflectable {
    @Option(help: "A YAML file with any of these settings.")
    var config: String?

    /// Those that were given.
    private(set) var given: [String: String] = [:]

    init() {}

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        _config = try values.decode(Option<String?>.self, forKey: Key(stringValue: "config"))
        for setting in Setting.all {
            let key = Key(stringValue: setting.name)
            given[setting.name] =
                setting.isSwitch
                ? try values.decode(Flag<Bool?>.self, forKey: key).wrappedValue?.description
                : try values.decode(Option<String?>.self, forKey: key).wrappedValue
        }
    }

    var customMirror: Mirror {
        let flags = Setting.all.map { setting -> (label: String?, value: Any) in
            let name = NameSpecification.customLong(setting.name)
            let help = ArgumentHelp(stringLiteral: setting.help)
            if setting.isSwitch {
                return (setting.name, Flag<Bool?>(name: name, inversion: .prefixedNo, help: help))
            }
            var named = help
            named.valueName = setting.valueName == "value" ? setting.name : setting.valueName
            return (setting.name, Option<String?>(name: name, help: named))
        }
        return Mirror(self, children: [(label: "config", value: _config as Any)] + flags)
    }

    /// - Throws: `ValidationError`, which ends the program with a usage message.
    func settings() throws -> Settings {
        do {
            return try Settings(
                flags: given, configFile: config, environment: ProcessInfo.processInfo.environment
            )
        } catch let problem as Settings.Problem {
            throw ValidationError(problem.description)
        }
    }
}
