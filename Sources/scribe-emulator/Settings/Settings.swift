import ArgumentParser
import Foundation
import ScribeDomain
import ScribeRuntime
import ScribeServer
import Yams

/// The settings of one run: flag before environment before file before default.
struct Settings {
    /// What is wrong with a setting, and where it came from.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private struct Value {
        let text: String
        /// For messages: `--port`, `SCRIBE_PORT`, `port in scribe.yaml`.
        let origin: String
    }

    private var values: [String: Value] = [:]
    private let environment: [String: String]
    /// What a start reports and goes on with: unknown `SCRIBE_*` names, which others may have set, and a signing key that
    /// every user can read.
    private(set) var warnings: [String] = []
    /// What keeps the file, or a key in it, from being read.
    private(set) var problems: [Problem] = []

    /// The settings of a verb, with what a server would make of them.
    static func found(flags: [String: String], configFile: String?) throws -> Setting.Run {
        do {
            return try Settings(
                flags: flags, configFile: configFile, environment: ProcessInfo.processInfo.environment
            ).run()
        } catch let problem as Problem {
            throw ValidationError(problem.description)
        }
    }

    /// - Parameters:
    ///   - flags: those that were given, by their names.
    ///   - configFile: the `--config` flag.
    /// - Throws: ``Problem``, the first one that ``init(collecting:configFile:environment:)`` finds.
    init(flags: [String: String], configFile: String?, environment: [String: String]) throws {
        self.init(collecting: flags, configFile: configFile, environment: environment)
        if let problem = problems.first { throw problem }
    }

    /// Settings from all of their places, with every problem of the file in ``problems``.
    init(collecting flags: [String: String], configFile: String?, environment: [String: String]) {
        self.environment = environment
        if let path = configFile ?? environment[Setting.configName] { read(file: path) }
        for setting in Setting.all {
            for name in setting.names.map(Setting.environmentName(of:)) {
                if let text = environment[name] { values[setting.name] = Value(text: text, origin: name) }
            }
            for name in setting.names {
                if let text = flags[name] { values[setting.name] = Value(text: text, origin: "--\(name)") }
            }
        }
        let known =
            Setting.all.flatMap(\.names).map(Setting.environmentName(of:))
            + [Setting.configName, Setting.signingKeyName, Setting.sttKeyName]
            + Setting.exportedNames
        for name in environment.keys.sorted()
        where name.hasPrefix(Setting.environmentPrefix) && !known.contains(name) {
            warnings.append("\(name) is not a setting; did you mean \(nearestName(to: name, among: known))?")
        }
        if let key = values["signing-key-file"], environment[Setting.signingKeyName] == nil,
            let attributes = try? FileManager.default.attributesOfItem(atPath: key.text),
            let mode = attributes[.posixPermissions] as? Int, mode & 0o007 != 0
        {
            warnings.append("\(key.origin): every user can read \(key.text), the signing key; chmod 600 '\(key.text)'")
        }
    }

    private mutating func read(file path: String) {
        do {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw Problem(description: "\(path) cannot be read; name another file with --config or SCRIBE_CONFIG")
            }
            let node: Node?
            do {
                node = try Yams.compose(yaml: String(decoding: data, as: UTF8.self))
            } catch {
                throw Problem(description: "\(path) is not YAML: \(YAMLMistake.words(for: error))")
            }
            guard let node else { return }
            guard let mapping = node.mapping else {
                throw Problem(description: "\(path) must hold keys and values, such as port: 8087")
            }
            for (key, value) in mapping {
                guard let name = key.string else {
                    throw Problem(description: "\(path): each key must be the name of a setting")
                }
                read(name, value, in: path)
            }
        } catch {
            problems.append(error as? Problem ?? Problem(description: "\(path): \(error)"))
        }
    }

    private mutating func read(_ name: String, _ node: Node, in path: String) {
        guard let setting = Setting.all.first(where: { $0.names.contains(name) }) else {
            let nearest = nearestName(to: name, among: Setting.all.flatMap(\.names).sorted())
            problems.append(Problem(description: "\(path): '\(name)' is not a setting; did you mean '\(nearest)'?"))
            return
        }
        guard let text = Self.text(of: node, setting.shape) else {
            let wanted = setting.shape.takesList ? "a single value or a list of single values" : "a single value"
            problems.append(Problem(description: "\(path): '\(name)' must be \(wanted)"))
            return
        }
        values[setting.name] = Value(text: text, origin: "\(name) in \(path)")
    }

    /// The text of a value; of a list its values with commas between. Nil where the setting takes no such value.
    private static func text(of node: Node, _ shape: Setting.Shape) -> String? {
        if let scalar = node.scalar { return scalar.string }
        guard shape.takesList, let items = node.sequence else { return nil }
        let texts = items.compactMap { $0.scalar?.string }
        guard texts.count == items.count, !texts.contains(where: { $0.contains(",") }) else { return nil }
        return texts.joined(separator: ",")
    }

    /// A setting with its text and where that came from; the text is nil where nothing was set.
    struct Entry {
        let setting: Setting
        let text: String?
        let origin: String
    }

    /// Every setting, in the order of its page.
    var entries: [Entry] {
        Setting.all.map { setting in
            let value = values[setting.name]
            return Entry(setting: setting, text: value?.text, origin: value?.origin ?? "default")
        }
    }

    /// The variables that hold keys themselves and are set.
    var keyVariables: [String] {
        [Setting.signingKeyName, Setting.sttKeyName].filter { environment[$0] != nil }
    }

    private func settleTLS(_ configuration: inout Configuration) throws(Problem) {
        let given = ["tls-certificate", "tls-key"].compactMap { values[$0]?.origin }
        if given.count == 1 { throw Problem(description: "\(given[0]): tls-certificate and tls-key go together") }
        if given.count == 2 { configuration.tls.isOn = true }
        // One for all servers of a user, wherever their data is: it is trusted by hand.
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : $0 }
            ?? environment["HOME"].flatMap { $0.isEmpty ? nil : "\($0)/.local/share" }
        if configuration.tls.folder == nil { configuration.tls.folder = base.map { "\($0)/scribe-emulator/tls" } }
    }

    /// What they come to; everything that was not set has its default.
    /// - Throws: ``Problem``, the first one of ``result()``.
    func run() throws -> Setting.Run {
        let (run, problems) = result()
        if let problem = problems.first { throw problem }
        return run
    }

    /// A value as it may be shown: without the user and the query of a URL, and without the arguments of a program. Each of
    /// them may be a credential.
    static func masked(_ text: String) -> String {
        if text.hasPrefix("command:"), let end = text.firstIndex(of: " ") { return text[..<end] + " ***" }
        guard text.contains("://") else { return text }
        return text.replacing(/:\/\/[^\/?#\s]*@/, with: "://***@").replacing(/[?#]\S+/, with: "?***")
    }

    /// What they come to, and every problem on the way. A setting with a problem has its default.
    func result() -> (run: Setting.Run, problems: [Problem]) {
        var run = Setting.Run()
        var problems: [Problem] = []
        for setting in Setting.all {
            guard let value = values[setting.name] else { continue }
            do {
                try setting.apply(value.text, &run)
            } catch {
                let shown = setting.isSecret ? "***" : Self.masked(value.text)
                problems.append(Problem(description: "\(value.origin): '\(shown)' \(error.what)"))
            }
        }
        // Keys as such win over files that hold them.
        if let key = environment[Setting.signingKeyName] { run.configuration.signingKey = Array(key.utf8) }
        if let key = environment[Setting.sttKeyName] { run.configuration.speechService.key = key }
        do {
            try settleTLS(&run.configuration)
        } catch {
            problems.append(error)
        }
        if run.configuration.isEphemeral, let folder = values["data-dir"], let ephemeral = values["ephemeral"] {
            problems.append(
                Problem(description: "\(ephemeral.origin) and \(folder.origin) exclude each other"))
        }
        // Where a real recogniser listens, what is put together is heard already, and takes no time.
        if run.configuration.transcriber != .fake {
            run.configuration.jobs.assemblies = 2
            // Claimed ahead, so that a recogniser that is free need not wait for the database.
            run.configuration.jobs.transcriptions += 8
        }
        return (run, problems)
    }
}
