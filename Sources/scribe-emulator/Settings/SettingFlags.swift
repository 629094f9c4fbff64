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
            for name in setting.names {
                let key = Key(stringValue: name)
                given[name] =
                    setting.isSwitch
                    ? try values.decode(Flag<Bool?>.self, forKey: key).wrappedValue?.description
                    : try values.decode(Option<String?>.self, forKey: key).wrappedValue
            }
        }
    }

    var customMirror: Mirror {
        let flags = Setting.all.flatMap { setting in
            setting.names.map { (label: Optional($0), value: Self.flag($0, setting)) }
        }
        return Mirror(self, children: [(label: "config", value: _config as Any)] + flags)
    }

    private static func flag(_ name: String, _ setting: Setting) -> Any {
        let flag = NameSpecification.customLong(name)
        var help = ArgumentHelp(stringLiteral: setting.help)
        if name != setting.name { help.visibility = .hidden }
        if setting.isSwitch { return Flag<Bool?>(name: flag, inversion: .prefixedNo, help: help) }
        help.valueName = setting.valueName == "value" ? name : setting.valueName
        return Option<String?>(name: flag, help: help)
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
