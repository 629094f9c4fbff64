import ArgumentParser
import Foundation
import ScribeDomain
import ScribeServer

struct ConfigVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print or check the settings that serve would start with.",
        subcommands: [ConfigPrint.self, ConfigCheck.self, ConfigSchema.self])
}

/// The flags of `config print` and `config check`: those of `serve`.
struct ConfigPrint: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Print each setting as YAML, with the place that it comes from.",
        discussion: "Secrets are masked, and so are passwords and queries in URLs. Exits 1 if a value cannot be used.")

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
        abstract: "Check the settings and the files that they name; exits 0 if no problem was found, else 1.",
        discussion: "Takes the flags of serve. No port and no data folder is opened.")

    @OptionGroup var flags: SettingFlags

    func run() throws {
        let settings = flags.collected()
        let (run, unusable) = settings.result()
        var problems = (settings.problems + unusable).map(\.description)
        // What follows from a value that cannot be used says nothing.
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
    /// The settings, with their problems collected and not thrown.
    fileprivate func collected() -> Settings {
        Settings(collecting: given, configFile: config, environment: ProcessInfo.processInfo.environment)
    }
}

extension Settings.Entry {
    /// A line of YAML; a comment where the setting has no value.
    var line: String {
        guard let value = text ?? (setting.defaultText.isEmpty ? nil : setting.defaultText) else {
            return "# \(setting.name):  # default: \(setting.defaultWords ?? "none")"
        }
        // A comment, so that no one starts a server with a saved print and `***` as its secret.
        if setting.isSecret { return "# \(setting.name): ***  # \(origin)" }
        let shown = setting.shape.json(Settings.masked(value))
        return "\(setting.name): \(String(decoding: shown.bytes, as: UTF8.self))  # \(origin)"
    }
}
