import ArgumentParser
import Basics
import Engines
import Foundation
import ScribeRuntime
import ScribeServer
import Yams

/// Texts of all settings in one run, by precedence: flag, environment variable, YAML file, default.
struct Settings {
    /// Error in a setting, with the place that its value came from.
    typealias Problem = ValidationError

    private struct Value {
        let text: String
        /// The place of the value, for messages: `--port`, `SCRIBE_PORT`, `port in scribe.yaml`.
        let origin: String
    }

    private var values: [String: Value] = [:]
    private let environment: [String: String]
    /// Problems that do not prevent a start: unknown `SCRIBE_*` variables, which other programs may have set, and a
    /// signing key that every user can read.
    private(set) var warnings: [String] = []
    /// Errors of the YAML file and of its keys.
    private(set) var problems: [Problem] = []

    /// The values of all settings for a command, from its flags, the environment and the YAML file.
    /// - Throws: `ValidationError` for the first problem.
    static func found(flags: [String: String], configFile: String?) throws -> Setting.Run {
        try Settings(flags: flags, configFile: configFile, environment: Invocation.current.environment).run()
    }

    /// Reads the settings from all places.
    /// - Parameters:
    ///   - flags: The values of the given flags by the names of the flags.
    ///   - configFile: The value of the `--config` flag.
    /// - Throws: ``Problem``, the first one of ``problems``.
    init(flags: [String: String], configFile: String?, environment: [String: String]) throws {
        self.init(collecting: flags, configFile: configFile, environment: environment)
        if let problem = problems.first { throw problem }
    }

    /// Reads the settings from all places, and collects the problems of the YAML file in ``problems``.
    init(collecting flags: [String: String], configFile: String?, environment: [String: String]) {
        self.environment = environment
        do throws(Setting.Problem) {
            let named = configFile == nil ? try environment[Setting.configName].map(Setting.path) : configFile
            if let named { read(file: named) }
        } catch {
            let path = environment[Setting.configName] ?? ""
            problems.append(Problem("\(Setting.configName): '\(path)' \(error.what)"))
        }
        for setting in Setting.all {
            let variable = setting.environmentName
            if let text = environment[variable] { values[setting.name] = Value(text: text, origin: variable) }
            if let text = flags[setting.name] { values[setting.name] = Value(text: text, origin: "--\(setting.name)") }
        }
        let known =
            Setting.all.map(\.environmentName)
            + [Setting.configName] + Setting.keyNames + Setting.exportedNames
        for name in environment.keys.sorted()
        where name.hasPrefix(Setting.environmentPrefix) && !known.contains(name) {
            warnings.append("\(name) is not a setting; did you mean \(nearestName(to: name, among: known))?")
        }
        if let key = values["signing-key-file"], environment[Setting.signingKeyName] == nil,
            let path = try? Setting.path(key.text),
            let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let mode = attributes[.posixPermissions] as? Int, mode & 0o007 != 0
        {
            warnings.append("\(key.origin): every user can read \(path), the signing key; run chmod 600 '\(path)'")
        }
    }

    private mutating func read(file path: String) {
        do {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Problem("\(path) cannot be read; name another file with --config or SCRIBE_CONFIG")
            }
            guard let node = try YAMLText.node(of: data) else { return }
            guard let mapping = node.mapping else {
                throw Problem("\(path) must hold keys and values, such as port: 8087")
            }
            for (key, value) in mapping {
                guard let name = key.string else {
                    throw Problem("\(path): each key must be the name of a setting")
                }
                read(name, value, in: path)
            }
        } catch let mistake as YAMLText.Mistake {
            problems.append(Problem("\(path) is not YAML: \(mistake)"))
        } catch {
            problems.append(error as? Problem ?? Problem("\(path): \(error)"))
        }
    }

    private mutating func read(_ name: String, _ node: Node, in path: String) {
        guard let setting = Setting.all.first(where: { $0.name == name }) else {
            let nearest = nearestName(to: name, among: Setting.all.map(\.name).sorted())
            problems.append(Problem("\(path): '\(name)' is not a setting; did you mean '\(nearest)'?"))
            return
        }
        if node.null != nil { return }
        guard let text = Self.text(of: node, setting.valueType) else {
            let wanted = setting.valueType.takesList ? "a single value or a list of single values" : "a single value"
            problems.append(Problem("\(path): '\(name)' must be \(wanted)"))
            return
        }
        values[setting.name] = Value(text: text, origin: "\(name) in \(path)")
    }

    /// The text of a YAML value; values of a list are joined by commas. Nil if the setting does not take such a value.
    private static func text(of node: Node, _ valueType: Setting.ValueType) -> String? {
        if let scalar = node.scalar { return scalar.string }
        guard valueType.takesList, let items = node.sequence else { return nil }
        let texts = items.compactMap { $0.scalar?.string }
        guard texts.count == items.count, !texts.contains(where: { $0.contains(",") }) else { return nil }
        return texts.joined(separator: ",")
    }

    /// Setting with its text and the place of the text.
    struct Entry {
        let setting: Setting
        /// Nil if the setting has its default.
        let text: String?
        let origin: String
    }

    /// All settings, in the order of `docs/configuration.md`.
    var entries: [Entry] {
        Setting.all.map { setting in
            let value = values[setting.name]
            return Entry(setting: setting, text: value?.text, origin: value?.origin ?? "default")
        }
    }

    /// The set environment variables that hold keys themselves.
    var keyVariables: [String] {
        Setting.keyNames.filter { environment[$0] != nil }
    }

    private func settleTLS(_ configuration: inout Configuration) throws(Problem) {
        let given = ["tls-certificate", "tls-key"].compactMap { values[$0]?.origin }
        if given.count == 1 {
            throw Problem("\(given[0]): set both tls-certificate and tls-key, or neither")
        }
        if given.count == 2 { configuration.tls.isOn = true }
        // One authority for all servers of a user, since the user must trust it by hand.
        let base =
            environment["XDG_DATA_HOME"] ?? environment["HOME"].map { "\($0)/.local/share" }
        if configuration.tls.folder == nil { configuration.tls.folder = base.map { "\($0)/scribe-emulator/tls" } }
    }

    /// The values of all settings.
    /// - Throws: ``Problem``, the first one of ``result()``.
    func run() throws -> Setting.Run {
        let (run, problems) = result()
        if let problem = problems.first { throw problem }
        return run
    }

    /// Masks the user and the query of a URL, and the arguments of a program. Each may be a credential.
    static func masked(_ text: String) -> String {
        // Each start asks for the values of all settings.
        guard text.utf8.contains(UInt8(ascii: ":")) else { return text }
        // A mistyped kind before a program masks its arguments too. Placeholders are no secrets.
        if text.contains(/^[A-Za-z]{1,20}:[^\s]/), let end = text.firstIndex(of: " "), !text[..<end].contains("://") {
            let words = text[end...].split(separator: " ").map { $0.contains(/^\{\w+\}$/) ? String($0) : "***" }
            return ([String(text[..<end])] + words).joined(separator: " ")
        }
        guard text.contains("://") else { return text }
        return text.replacing(/:\/\/[^\/?#\s]*@/, with: "://***@").replacing(/[?#]\S+/, with: "?***")
    }

    /// The values of all settings, and all problems with them. A setting with a problem has its default.
    func result() -> (run: Setting.Run, problems: [Problem]) {
        var run = Setting.Run()
        var problems: [Problem] = []
        for setting in Setting.all {
            guard let value = values[setting.name] else { continue }
            do throws(Setting.Problem) {
                guard !value.text.isEmpty || setting.valueType.takesList else {
                    throw Setting.Problem(what: "is empty; leave it out for the default")
                }
                try setting.apply(value.text, &run)
            } catch {
                let shown = setting.isSecret ? "***" : Self.masked(value.text)
                problems.append(Problem("\(value.origin): '\(shown)' \(error.what)"))
            }
        }
        // Keys in the environment win over files with keys.
        if let key = environment[Setting.signingKeyName] { run.configuration.signingKey = Array(key.utf8) }
        if let key = environment[Setting.sttKeyName] { run.configuration.speechService.key = key }
        if let key = environment[Setting.noteKeyName] { run.configuration.noteModel.key = key }
        do {
            try settleTLS(&run.configuration)
        } catch {
            problems.append(error)
        }
        if run.configuration.isEphemeral, let folder = values["data-dir"], let ephemeral = values["ephemeral"] {
            problems.append(
                Problem("\(ephemeral.origin) and \(folder.origin) cannot be used together; leave one out"))
        }
        // With a real recogniser, an assembly waits for recognitions that are done already, and takes little time.
        if run.configuration.transcriber != .fake {
            run.configuration.jobs.assemblies = 2
            // Jobs are claimed ahead, so that a free recogniser need not wait for the database.
            run.configuration.jobs.transcriptions += 8
        }
        return (run, problems)
    }
}
