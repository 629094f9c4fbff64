import ArgumentParser
import Foundation

/// The flags of `serve`, one for each ``Setting``, in the groups of its help.
struct SettingFlags: ParsableArguments {
    @Option(
        help: "A YAML file with settings.", completion: .file(extensions: ["yaml", "yml"]), transform: Setting.path)
    var config: String?

    @OptionGroup(title: "Address, TLS and data")
    private var place: SettingGroup<Setting.PlaceGroup>

    @OptionGroup(title: "Recogniser")
    private var speech: SettingGroup<Setting.SpeechGroup>

    @OptionGroup(title: "Notes")
    private var notes: SettingGroup<Setting.NotesGroup>

    @OptionGroup(title: "Access")
    private var access: SettingGroup<Setting.AccessGroup>

    @OptionGroup(title: "Behaviour, limits and logs")
    private var behaviour: SettingGroup<Setting.BehaviourGroup>

    /// The values of the given flags by the names of the flags.
    var given: [String: String] {
        [place.given, speech.given, notes.given, access.given, behaviour.given].reduce(into: [:]) { all, group in
            all.merge(group) { first, _ in first }
        }
    }

    /// The settings from the flags, the environment and the YAML file.
    /// - Throws: `ValidationError`, which ends the program with a usage message.
    func settings() throws -> Settings {
        try Settings(flags: given, configFile: config, environment: Invocation.current.environment)
    }
}

/// List of settings whose flags have one title in `--help`.
protocol SettingList: Sendable {
    static var settings: [Setting] { get }
    /// A flag for each setting, made once: the parser asks for them some ten times for each command line.
    static var flags: [any Sendable] { get }
}

extension Setting {
    enum PlaceGroup: SettingList {
        static let settings = place
        static let flags = place.map(\.flag)
    }

    enum SpeechGroup: SettingList {
        static let settings = speech
        static let flags = speech.map(\.flag)
    }

    enum NotesGroup: SettingList {
        static let settings = notes
        static let flags = notes.map(\.flag)
    }

    enum AccessGroup: SettingList {
        static let settings = access
        static let flags = access.map(\.flag)
    }

    enum BehaviourGroup: SettingList {
        static let settings = behaviour + limits
        static let flags = settings.map(\.flag)
    }
}

/// Flags of one list of settings. ArgumentParser finds flags by reflection, so a custom mirror with a child for each
/// flag works like a property for each: with help, completion and "did you mean".
struct SettingGroup<List: SettingList>: ParsableArguments, CustomReflectable {
    /// The values of the given flags by the names of the flags.
    private(set) var given: [String: String] = [:]

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: SettingKey.self)
        for setting in List.settings {
            let key = SettingKey(stringValue: setting.name)
            given[setting.name] =
                if setting.isSwitch {
                    try values.decode(Flag<Bool?>.self, forKey: key).wrappedValue?.description
                } else if setting.valueType.takesList {
                    try Self.joined(values.decode(Option<[String]>.self, forKey: key).wrappedValue)
                } else {
                    try values.decode(Option<String?>.self, forKey: key).wrappedValue
                }
        }
    }

    /// A flag of a list can be there more than once.
    private static func joined(_ texts: [String]) -> String? { texts.isEmpty ? nil : texts.joined(separator: ",") }

    var customMirror: Mirror {
        Mirror(self, children: zip(List.settings, List.flags).map { (label: $0.name, value: $1) })
    }
}

/// Coding key of a flag: its name.
private struct SettingKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Setting {
    fileprivate var flag: any Sendable {
        let flag = NameSpecification.customLong(name)
        var help = ArgumentHelp(stringLiteral: flagHelp)
        if isSwitch { return Flag<Bool?>(name: flag, inversion: .prefixedNo, help: help) }
        help.valueName = valueName == "value" ? valueType.placeholder ?? name : valueName
        if valueType.takesList {
            return Option<[String]>(wrappedValue: [], name: flag, parsing: .singleValue, help: help)
        }
        return valueType == .path
            ? Option<String?>(name: flag, help: help, completion: completion, transform: Setting.path)
            : Option<String?>(name: flag, help: help, completion: completion)
    }

    /// The help text with the default, unless the text itself tells the default.
    private var flagHelp: String {
        guard let defaultWords, !help.contains("by default") else { return help }
        return "\(help) (default: \(defaultWords))"
    }

    /// Shell completion for the value.
    private var completion: CompletionKind? {
        if name.hasSuffix("-dir") { return .directory }
        if valueType == .path { return .file() }
        guard case .choice(let words) = valueType else { return nil }
        return .list(words)
    }
}
