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
    /// Unknown `SCRIBE_*` names: reported, but others may have set them.
    private(set) var warnings: [String] = []

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
    init(flags: [String: String], configFile: String?, environment: [String: String]) throws {
        self.environment = environment
        if let path = configFile ?? environment[Setting.configName] { try read(file: path) }
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
    }

    private mutating func read(file path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Problem(description: "\(path) cannot be read")
        }
        let node: Node?
        do {
            node = try Yams.compose(yaml: String(decoding: data, as: UTF8.self))
        } catch {
            throw Problem(description: "\(path) is not YAML: \(error)")
        }
        guard let node else { return }
        guard let mapping = node.mapping else { throw Problem(description: "\(path) must hold keys and values") }
        let names = Dictionary(
            Setting.all.flatMap { setting in setting.names.map { ($0, setting.name) } }, uniquingKeysWith: { $1 })
        for (keyNode, valueNode) in mapping {
            let name = keyNode.string ?? ""
            guard let setting = names[name] else {
                let nearest = nearestName(to: name, among: names.keys.sorted())
                throw Problem(description: "\(path): '\(name)' is not a setting; did you mean '\(nearest)'?")
            }
            guard let text = valueNode.scalar?.string else {
                throw Problem(description: "\(path): '\(name)' must be a single value")
            }
            values[setting] = Value(text: text, origin: "\(name) in \(path)")
        }
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
    func run() throws -> Setting.Run {
        var run = Setting.Run()
        for setting in Setting.all {
            guard let value = values[setting.name] else { continue }
            do {
                try setting.apply(value.text, &run)
            } catch {
                throw Problem(description: "\(value.origin): '\(value.text)' \(error.what)")
            }
        }
        // Keys as such win over files that hold them.
        if let key = environment[Setting.signingKeyName] { run.configuration.signingKey = Array(key.utf8) }
        if let key = environment[Setting.sttKeyName] { run.configuration.speechService.key = key }
        try settleTLS(&run.configuration)
        if run.configuration.isEphemeral, let folder = values["data-dir"], let ephemeral = values["ephemeral"] {
            throw Problem(description: "\(ephemeral.origin) and \(folder.origin) exclude each other")
        }
        // Where a real recogniser listens, what is put together is heard already, and takes no time.
        if run.configuration.transcriber != .fake {
            run.configuration.jobs.assemblies = 2
            // Claimed ahead, so that a recogniser that is free need not wait for the database.
            run.configuration.jobs.transcriptions += 8
        }
        return run
    }
}
