import ArgumentParser
import Basics
import Console
import ScribeServer

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print or check the settings that serve would start with.",
        subcommands: [ConfigPrint.self, ConfigCheck.self, ConfigSchema.self])
}

/// `config print`: prints each setting with its origin. Takes the flags of `serve`, as `config check` does.
struct ConfigPrint: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Print each setting as YAML, and where its value comes from.",
        discussion: "Secrets are masked, and so are passwords and queries in URLs. Exits 1 if a value is invalid.")

    @OptionGroup var flags: SettingFlags

    func run() throws {
        let settings = flags.collected()
        for entry in settings.entries { print(entry.line) }
        for name in settings.keyVariables { print("# \(name) is set") }
        let problems = settings.problems + settings.result().problems
        for problem in problems { StandardError.write(problem.description) }
        guard problems.isEmpty else { throw ExitCode.failure }
    }
}

struct ConfigCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the settings and the files that they name. Exits 0 if no problem was found, else 1.",
        discussion: "Takes the flags of serve. It opens neither a port nor the data folder.")

    @OptionGroup var flags: SettingFlags

    func run() throws {
        let settings = flags.collected()
        let (run, unusable) = settings.result()
        var problems = (settings.problems + unusable).map(\.description)
        // Checks of a configuration with an invalid value would report problems that follow from it.
        if problems.isEmpty { problems = run.configuration.problems() }
        for warning in settings.warnings { print("warning: \(warning)") }
        for problem in problems { print("problem: \(problem)") }
        guard problems.isEmpty else { throw ExitCode.failure }
        print("no problem was found")
    }
}

struct ConfigSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of the YAML file, for editors.")

    func run() { print(Setting.fileSchema, terminator: "") }
}

extension SettingFlags {
    /// The settings with all their problems collected, where ``settings()`` throws the first one.
    func collected() -> Settings {
        Settings(collecting: given, configFile: config, environment: Invocation.current.environment)
    }
}

extension Settings.Entry {
    /// The setting as a line of YAML. It is a comment where the setting has no value or is a secret.
    var line: String {
        guard let value = text ?? (setting.defaultText.isEmpty ? nil : setting.defaultText) else {
            return "# \(setting.name):  # default: \(setting.defaultWords ?? "none")"
        }
        // A comment: a server that starts with a saved print must not take `***` as its secret.
        if setting.isSecret { return "# \(setting.name): ***  # \(origin)" }
        let masked = Settings.masked(value)
        let shown = String(decoding: setting.valueType.json(masked).bytes, as: UTF8.self)
        return "\(masked == value ? "" : "# ")\(setting.name): \(shown)  # \(origin)"
    }

    /// The setting for the console.
    var shown: ConsoleFamily.Setting {
        let value = text ?? (setting.defaultText.isEmpty ? nil : setting.defaultText)
        return ConsoleFamily.Setting(
            name: setting.name, value: value.map { setting.isSecret ? "***" : Settings.masked($0) },
            defaultWords: setting.defaultWords ?? "none", origin: "\(origin)", summary: setting.help)
    }
}
