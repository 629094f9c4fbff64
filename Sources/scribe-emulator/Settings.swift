import ArgumentParser
import Eka
import Engines
import Foundation
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeServer
import ScribeStore
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

    private var values: [SettingKey: Value] = [:]
    private let signingKeyText: String?
    private let sttKeyText: String?
    /// Unknown `SCRIBE_*` names: reported, but others may have set them.
    private(set) var warnings: [String] = []

    /// The settings of a verb, with what a server would make of them.
    static func found(
        flags: [SettingKey: String], configFile: String?
    ) throws -> (settings: Settings, configuration: Configuration) {
        do {
            let settings = try Settings(
                flags: flags, configFile: configFile, environment: ProcessInfo.processInfo.environment)
            return (settings, try settings.configuration())
        } catch let problem as Problem {
            throw ValidationError(problem.description)
        }
    }

    /// - Parameters:
    ///   - flags: those that were given.
    ///   - configFile: the `--config` flag.
    init(flags: [SettingKey: String], configFile: String?, environment: [String: String]) throws {
        signingKeyText = environment[SettingKey.signingKeyName]
        sttKeyText = environment[SettingKey.sttKeyName]
        if let path = configFile ?? environment[SettingKey.configName] { try read(file: path) }
        for key in SettingKey.allCases {
            if let text = environment[key.environmentName] {
                values[key] = Value(text: text, origin: key.environmentName)
            }
            if let text = flags[key] { values[key] = Value(text: text, origin: "--\(key.rawValue)") }
        }
        let known =
            SettingKey.allCases.map(\.environmentName)
            + [SettingKey.configName, SettingKey.signingKeyName, SettingKey.sttKeyName]
            + SettingKey.exportedNames
        for name in environment.keys.sorted()
        where name.hasPrefix(SettingKey.environmentPrefix) && !known.contains(name) {
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
        for (keyNode, valueNode) in mapping {
            let name = keyNode.string ?? ""
            guard let key = SettingKey(rawValue: name) else {
                let nearest = nearestName(to: name, among: SettingKey.allCases.map(\.rawValue))
                throw Problem(description: "\(path): '\(name)' is not a setting; did you mean '\(nearest)'?")
            }
            guard let text = valueNode.scalar?.string else {
                throw Problem(description: "\(path): '\(name)' must be a single value")
            }
            values[key] = Value(text: text, origin: "\(name) in \(path)")
        }
    }

    // MARK: Values

    var readyFile: String? { values[.readyFile]?.text }

    func logLevel() throws -> Logger.Level {
        try choice(.logLevel, of: Logger.Level.allCases, named: \.rawValue) ?? .info
    }

    /// The configuration of a server; everything that was not set has its default.
    func configuration() throws -> Configuration {
        var configuration = Configuration()
        if let host = values[.host]?.text { configuration.host = host }
        if let port = try integer(.port, in: 0...65535) { configuration.port = port }
        if let path = values[.dataDir]?.text { configuration.dataFolder = path }
        configuration.isEphemeral = try boolean(.ephemeral) ?? false
        if configuration.isEphemeral, let folder = values[.dataDir], let ephemeral = values[.ephemeral] {
            throw Problem(description: "\(ephemeral.origin) and \(folder.origin) exclude each other")
        }
        if let transcriber = values[.transcriber] { configuration.transcriber = try Self.transcriber(transcriber) }
        if let fallback = values[.fallbackTranscriber] {
            configuration.fallbackTranscriber = try Self.transcriber(fallback)
        }
        if let limit = try duration(.transcriberTimeLimit) { configuration.recognition.timeLimit = limit }
        if let count = try integer(.transcriberConcurrency, in: 1...256) {
            configuration.recognition.concurrency = count
            configuration.jobs.transcriptions = count
            configuration.jobs.assemblies = count
        }
        // Where a real recogniser listens, what is put together is heard already, and takes no time.
        if configuration.transcriber != .fake { configuration.jobs.assemblies = 2 }
        configuration.speechService = try speechService()
        if let mode = try choice(.auth, of: AuthMode.allCases, named: \.rawValue) { configuration.authMode = mode }
        configuration.allowsUnverifiedTokensFromNetwork = try boolean(.allowUnverifiedTokens) ?? false
        configuration.hasDemoSeed = try boolean(.demoSeed)
        configuration.clientsFile = values[.clients]?.text
        configuration.fixturesFile = values[.fixtures]?.text
        configuration.signingKey = try signingKey()
        if let durability = try choice(.durability, of: Store.Durability.allCases, named: \.rawValue) {
            configuration.durability = durability
        }
        configuration.lifetimes = try lifetimes()
        configuration.allowedOrigins = try origins()
        configuration.clientProfiles = try clientProfiles()
        if try boolean(.strictDocs) == true { configuration.fidelity = .documentation }
        if let time = try duration(.longPoll) { configuration.longPoll = time }
        configuration.quotas.storedBytes = try bytes(.storageQuota)
        configuration.quotas.openTransactions = try integer(.openTransactionsQuota, in: 0...1_000_000_000)
        if let time = try duration(.requestTimeout) { configuration.connectionLimits.requestTime = time }
        if let time = try duration(.objectWait) { configuration.jobs.objectWait = time }
        return configuration
    }

    private static func transcriber(_ value: Value) throws -> Configuration.TranscriberChoice {
        if value.text == "fake" { return .fake }
        if value.text.hasPrefix("command:") { return .command(String(value.text.dropFirst("command:".count))) }
        for (prefix, choice) in [
            ("openai:", Configuration.TranscriberChoice.openAI),
            ("deepgram:", Configuration.TranscriberChoice.deepgram),
        ] where value.text.hasPrefix(prefix) {
            guard let url = URL(string: String(value.text.dropFirst(prefix.count))), url.host() != nil,
                ["http", "https"].contains(url.scheme)
            else { throw Problem(description: "\(value.origin): '\(value.text)' names no http or https address") }
            return choice(url)
        }
        throw Problem(
            description: """
                \(value.origin): '\(value.text)' is no transcriber; use fake, openai:URL, deepgram:URL or \
                command:PROGRAM ARGUMENTS
                """
        )
    }

    private func speechService() throws -> Configuration.SpeechServiceSettings {
        var settings = Configuration.SpeechServiceSettings()
        settings.model = values[.sttModel]?.text
        settings.liteModel = values[.sttModelLite]?.text
        settings.prompt = values[.sttPrompt]?.text
        if let longest = try duration(.sttLongest) {
            guard longest >= .seconds(1) else { throw Problem(description: "stt-longest must be at least 1s") }
            settings.longest = longest
        }
        if let key = sttKeyText {
            settings.key = key
        } else if let value = values[.sttKeyFile] {
            guard let data = FileManager.default.contents(atPath: value.text) else {
                throw Problem(description: "\(value.origin): \(value.text) cannot be read")
            }
            settings.key = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return settings
    }

    private func lifetimes() throws -> TokenLifetimes {
        var lifetimes = TokenLifetimes()
        func seconds(_ key: SettingKey) throws -> Double? {
            guard let time = try duration(key) else { return nil }
            guard time >= .seconds(1) else {
                throw values[key].map { problem($0, "is too short") } ?? Problem(description: "")
            }
            return time / .seconds(1)
        }
        if let time = try seconds(.accessTokenLifetime) { lifetimes.accessToken = time }
        if let time = try seconds(.refreshTokenLifetime) { lifetimes.refreshToken = time }
        if let time = try seconds(.credentialsLifetime) { lifetimes.uploadCredentials = time }
        return lifetimes
    }

    /// Origins as browsers send them: scheme, host and perhaps a port, without a path.
    private func origins() throws -> [String]? {
        guard let value = values[.corsOrigins] else { return nil }
        return try Self.list(value.text).map { origin in
            if origin == "*" { return origin }
            let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty else {
                throw problem(value, "must be origins such as https://app.example, or *")
            }
            return origin
        }
    }

    private func clientProfiles() throws -> [String: ClientProfile] {
        guard let value = values[.clientProfiles] else { return [:] }
        var profiles: [String: ClientProfile] = [:]
        for entry in Self.list(value.text) {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw problem(value, "must be ID=PROFILE") }
            guard let profile = ClientProfile.named.first(where: { $0.name == parts[1] }) else {
                let known = ClientProfile.named.map(\.name).joined(separator: ", ")
                throw problem(value, "names the profile '\(parts[1])', which is none of \(known)")
            }
            profiles[parts[0]] = profile
        }
        return profiles
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private func signingKey() throws -> [UInt8]? {
        if let text = signingKeyText { return Array(text.utf8) }
        guard let value = values[.signingKeyFile] else { return nil }
        guard let data = FileManager.default.contents(atPath: value.text) else {
            throw Problem(description: "\(value.origin): \(value.text) cannot be read")
        }
        return Array(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }

    private func integer(_ key: SettingKey, in range: ClosedRange<Int>) throws -> Int? {
        guard let value = values[key] else { return nil }
        guard let number = Int(value.text), range.contains(number) else {
            throw problem(value, "is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Reads `1000`, `500MB` and `50GB`.
    private func bytes(_ key: SettingKey) throws -> Int? {
        guard let value = values[key] else { return nil }
        let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1000), ("", 1)]
        for (suffix, size) in units where value.text.uppercased().hasSuffix(suffix) {
            guard let number = Int(value.text.dropLast(suffix.count)), (0...1_000_000_000).contains(number) else {
                break
            }
            return number * size
        }
        throw problem(value, "is no size; write 50GB, 500MB or a number of bytes")
    }

    private func boolean(_ key: SettingKey) throws -> Bool? {
        guard let value = values[key] else { return nil }
        switch value.text.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw problem(value, "is neither true nor false")
        }
    }

    private func duration(_ key: SettingKey) throws -> Duration? {
        guard let value = values[key] else { return nil }
        guard let duration = Self.duration(value.text) else {
            throw problem(value, "is not a time; write 14s, 500ms, 2m or 12h")
        }
        return duration
    }

    private func choice<Choice>(
        _ key: SettingKey, of choices: [Choice], named name: (Choice) -> String
    ) throws -> Choice? {
        guard let value = values[key] else { return nil }
        guard let choice = choices.first(where: { name($0) == value.text.lowercased() }) else {
            throw problem(value, "is none of \(choices.map(name).joined(separator: ", "))")
        }
        return choice
    }

    private func problem(_ value: Value, _ what: String) -> Problem {
        Problem(description: "\(value.origin): '\(value.text)' \(what)")
    }
}
