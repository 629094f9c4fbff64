import Basics
import Certificates
import Eka
import Engines
import Foundation
import ObjectStorage
import Outbound
import ScribeDomain
import ScribeHTTP
import ScribeServer
import ScribeStore

extension Setting.Parser where Value == String {
    /// Takes any text.
    static let text = Self { text in text }

    /// Reads a path. `~`, `$HOME` and `${HOME}` at its front are the home folder of the environment: no shell expands
    /// them in a file, in quotes or in `--data-dir=~/x`.
    static let path = Self(valueType: .path) { (text) throws(Setting.Problem) in
        guard !text.isEmpty else { throw Setting.Problem(what: "is empty; name a file or a folder") }
        // Each start reads paths, and the pattern costs as much as opening the database.
        guard "~$".contains(text[text.startIndex]),
            let home = text.prefixMatch(of: /(~|\$HOME|\$\{HOME\})(?=\/|$)/)
        else {
            guard !text.hasPrefix("~") else {
                throw Setting.Problem(what: "is in the home folder of another user; write the whole path")
            }
            return text
        }
        guard let folder = Invocation.current.environment["HOME"] else {
            throw Setting.Problem(what: "is in the home folder, and HOME is not set; write the whole path")
        }
        return folder + text[home.range.upperBound...]
    }

    /// Reads a host name or an IP address; an IPv6 address may be in brackets.
    static let address = Self { (text) throws(Setting.Problem) in
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let host = isBracketed ? String(text.dropFirst().dropLast()) : text.lowercased()
        // The zone of a link-local address names an interface of this machine.
        if host.contains(":"), let address = IPAddress(String(host.prefix { $0 != "%" })) {
            return host.contains("%") ? host : address.description
        }
        guard !isBracketed, CertificateName.isHost(host) else {
            throw Setting.Problem(what: "is not an address or a host name; write for example 127.0.0.1, ::1 or 0.0.0.0")
        }
        return host
    }

    /// Reads a base URL, such as `https://scribe.example`, and removes a slash at its end.
    static let origin = Self(orElse: "is not a base URL; write for example https://scribe.example") { text in
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let origin = WebOrigin(trimmed), origin.port != 0, !trimmed.hasSuffix(":"),
            origin.isAddress || CertificateName.isHost(origin.host)
        else { return nil }
        return trimmed.lowercased()
    }

    /// Reads an http or https URL.
    static let url = Self(orElse: "is not an http or https URL") { text in (try? OutboundURL(text)).map { _ in text } }

    /// Takes words that are separated by commas, and keeps them as one text.
    static let words = Self(valueType: .list) { text in text }
}

extension Setting.Parser where Value == PostgreSQLAddress {
    static let database = Self(orElse: "is no database; write postgres://USER:PASSWORD@HOST/DATABASE") {
        PostgreSQLAddress($0)
    }
}

extension Setting.Parser where Value == S3Address {
    static let objects = Self(orElse: "is no bucket; write s3://BUCKET?endpoint=https://HOST&region=REGION") {
        S3Address($0)
    }
}

extension Setting.Parser where Value == SeedValue {
    static let seedValue = Self(orElse: "is no seed value; write \(SeedValue.rule)") { SeedValue($0) }
}

extension Setting.Parser where Value == Bool {
    /// Reads `true` or `false`, or another word for one of them: `yes`, `on`, `1`, `no`, `off`, `0`.
    static let boolean = Self(.boolean, orElse: "is neither true nor false") {
        switch $0.lowercased() {
        case "true", "yes", "on", "1": true
        case "false", "no", "off", "0": false
        default: nil
        }
    }
}

extension Setting.Parser where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(.integer(range), orElse: "is not a number from \(range.lowerBound) to \(range.upperBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Reads a size in bytes: `1000`, `500MB` or `50GB`, with 1 KB = 1000 bytes.
    static let bytes = Self(.size, orElse: "is not a size; write 50GB, 500MB or a number of bytes") { text in
        let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1000), ("", 1)]
        for (suffix, size) in units where text.uppercased().hasSuffix(suffix) {
            guard let number = Int(text.dropLast(suffix.count)), (0...1_000_000_000).contains(number) else { break }
            return number * size
        }
        return nil
    }
}

extension Setting.Parser where Value == Duration {
    static let duration = duration(atLeast: .zero)

    /// Reads a time from `least` to 366 days, such as `14s`, `500ms` or `12h`.
    static func duration(atLeast least: Duration) -> Self {
        Self(valueType: .time) { (text) throws(Setting.Problem) in
            guard let duration = Duration(setting: text) else {
                throw Setting.Problem(what: "is not a time up to 366d; write 14s, 500ms, 2m or 12h")
            }
            guard duration >= least else {
                throw Setting.Problem(
                    what: "is too short; write \(Int(saturating: least / .milliseconds(1)))ms or more")
            }
            return duration
        }
    }
}

extension Setting.Parser where Value == [Duration] {
    /// Reads a list of at most 20 times, such as `10s,60s,5m`.
    static let durations = Self(.times, orElse: "is not a list of at most 20 times; write for example 10s,60s,5m") {
        let entries = Setting.Parser<[String]>.list($0)
        let durations = entries.compactMap { Duration(setting: $0) }
        return durations.count == entries.count && entries.count <= 20 ? durations : nil
    }
}

extension Setting.Parser where Value == Double {
    /// Reads a time of at least 1 s, such as `14s`, and converts the time to seconds.
    static let seconds = Self(valueType: .time) { (text) throws(Setting.Problem) in
        try Setting.Parser<Duration>.duration(atLeast: .seconds(1)).read(text) / .seconds(1)
    }
}

extension Setting.Parser {
    /// - Parameters:
    ///   - problem: the error for a text that is not a value.
    ///   - make: makes the value; nil for another text.
    init(
        _ valueType: Setting.ValueType = .text, orElse problem: String, make: @escaping @Sendable (String) -> Value?
    ) {
        self.init(valueType: valueType) { (text) throws(Setting.Problem) in
            guard let value = make(text) else { throw Setting.Problem(what: problem) }
            return value
        }
    }

    /// Reads one of some words, in upper or lower case.
    static func choice(of choices: [Value], named name: @escaping @Sendable (Value) -> String) -> Self {
        let names = choices.map(name)
        return Self(.choice(names), orElse: "is not one of \(names.joined(separator: ", "))") { text in
            choices.first { name($0) == text.lowercased() }
        }
    }

    static func choice() -> Self where Value: CaseIterable & RawRepresentable<String> {
        choice(of: Array(Value.allCases)) { $0.rawValue }
    }
}

extension Setting.Parser where Value == Configuration.TranscriberChoice {
    /// Reads a transcriber: `fake`, `openai:URL`, `deepgram:URL` or `command:PROGRAM ARGUMENTS`.
    static let transcriber = Self { (text) throws(Setting.Problem) in
        if text == "fake" { return .fake }
        if text.hasPrefix("command:") { return .command(String(text.dropFirst("command:".count))) }
        let services: [(String, @Sendable (URL) -> Configuration.TranscriberChoice)] = [
            ("openai:", { .openAI($0) }), ("deepgram:", { .deepgram($0) }),
        ]
        for (prefix, choice) in services where text.hasPrefix(prefix) {
            return choice(try Setting.service(text, after: prefix, such: "stt.example"))
        }
        throw Setting.Problem(
            what: "is not a transcriber; use fake, openai:URL, deepgram:URL or command:PROGRAM ARGUMENTS")
    }
}

extension Setting.Parser where Value == Configuration.NoteWriterChoice {
    /// Reads a note writer: `rules` or `openai:URL`.
    static let noteWriter = Self { (text) throws(Setting.Problem) in
        if text == "rules" { return .rules }
        guard text.hasPrefix("openai:") else {
            throw Setting.Problem(what: "is not a note writer; use rules or openai:URL")
        }
        return .openAI(try Setting.service(text, after: "openai:", such: "models.example"))
    }
}

extension Setting {
    /// The base URL of a service behind a prefix.
    /// - Parameter host: the host of the example in the error.
    fileprivate static func service(
        _ text: String, after prefix: String, such host: String
    ) throws(Problem) -> URL {
        guard let url = URL(string: String(text.dropFirst(prefix.count))), !(url.host() ?? "").isEmpty,
            ["http", "https"].contains(url.scheme), (1...65535).contains(url.port ?? 80)
        else {
            throw Problem(what: "has no http or https URL; write for example \(prefix)https://\(host)/v1")
        }
        return url
    }
}

extension Setting.Parser where Value == [String] {
    /// Reads paths, each as ``Setting/Parser/path`` does.
    static let paths = Self(valueType: .list) { (text) throws(Setting.Problem) in
        try list(text).map { path throws(Setting.Problem) in try Setting.path(path) }
    }

    /// Reads web origins: `https://app.example:8443,https://*.staging.example`, or `*`.
    static let origins = Self(
        .list,
        orElse: """
            is not a list of web origins; write for example https://app.example or https://*.app.example, \
            without paths, or *
            """
    ) {
        let origins = list($0)
        return origins.allSatisfy { $0 == "*" || OriginPattern($0) != nil } ? origins : nil
    }

    /// Reads hosts without ports: `scribe.example,*.staging.example`, or `*`.
    static let hosts = Self(
        .list,
        orElse: "is not a list of hosts; write for example scribe.example or *.scribe.example, without ports, or *"
    ) {
        let hosts = list($0)
        return hosts.allSatisfy { $0 == "*" || CertificateName($0) != nil } ? hosts : nil
    }

    /// The texts between commas, without white space at both ends.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

extension Setting.Parser where Value == [String: ClientProfile] {
    /// Reads the SDK profiles of client ids: `my-app=ios,kiosk=web`.
    static let clientProfiles = Self(valueType: .list) { (text) throws(Setting.Problem) in
        var profiles: [String: ClientProfile] = [:]
        for entry in Setting.Parser<[String]>.list(text) {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, !parts[0].contains(/[\s"'\[{]/) else {
                throw Setting.Problem(what: "has no profile; write ID=PROFILE, for example my-app=ios")
            }
            guard let profile = ClientProfile.named.first(where: { $0.name == parts[1] }) else {
                let known = ClientProfile.named.map(\.name).joined(separator: ", ")
                throw Setting.Problem(what: "has the unknown profile '\(parts[1])'; use one of \(known)")
            }
            profiles[parts[0]] = profile
        }
        return profiles
    }
}

extension Setting.Parser where Value == Data {
    /// Reads the UTF-8 text of the file at a path, and removes white space at both ends.
    static let fileContents = Self(valueType: .path) { (path) throws(Setting.Problem) in
        guard let data = FileManager.default.contents(atPath: try Setting.path(path)) else {
            throw Setting.Problem(what: "cannot be read; check that the file exists and that you may read it")
        }
        return Data(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }
}
