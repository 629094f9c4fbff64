import Certificates
import Eka
import Engines
import Foundation
import ScribeServer

extension Setting.Parser where Value == String {
    /// Any text.
    static let text = Self { text in text }

    /// Words with commas between.
    static let words = Self(shape: .list) { text in text }
}

extension Setting.Parser where Value == Bool {
    static let boolean = Self(shape: .boolean) { (text) throws(Setting.Problem) in
        switch text.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: throw Setting.Problem(what: "is neither true nor false")
        }
    }
}

extension Setting.Parser where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(shape: .integer(range)) { (text) throws(Setting.Problem) in
            guard let number = Int(text), range.contains(number) else {
                throw Setting.Problem(what: "is not a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    /// `1000`, `500MB` and `50GB`.
    static let bytes = Self(shape: .size) { (text) throws(Setting.Problem) in
        let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1000), ("", 1)]
        for (suffix, size) in units where text.uppercased().hasSuffix(suffix) {
            guard let number = Int(text.dropLast(suffix.count)), (0...1_000_000_000).contains(number) else { break }
            return number * size
        }
        throw Setting.Problem(what: "is no size; write 50GB, 500MB or a number of bytes")
    }
}

extension Setting.Parser where Value == Duration {
    static let duration = duration(atLeast: .zero)

    static func duration(atLeast least: Duration) -> Self {
        Self(shape: .time) { (text) throws(Setting.Problem) in
            guard let duration = Duration(setting: text) else {
                throw Setting.Problem(what: "is not a time up to 366d; write 14s, 500ms, 2m or 12h")
            }
            guard duration >= least else {
                throw Setting.Problem(what: "is too short; write \(Int(least / .milliseconds(1)))ms or more")
            }
            return duration
        }
    }
}

extension Setting.Parser where Value == [Duration] {
    /// `10s,60s,5m`.
    static let durations = Self(shape: .times) { (text) throws(Setting.Problem) in
        var durations: [Duration] = []
        for entry in Setting.Parser<[String]>.list(text) {
            guard let duration = Duration(setting: entry), durations.count < 20 else {
                throw Setting.Problem(what: "must be up to twenty times such as 10s,60s,5m")
            }
            durations.append(duration)
        }
        return durations
    }
}

extension Setting.Parser where Value == Double {
    /// A time, in seconds, of one at least.
    static let seconds = Self(shape: .time) { (text) throws(Setting.Problem) in
        try Setting.Parser<Duration>.duration(atLeast: .seconds(1)).read(text) / .seconds(1)
    }
}

extension Setting.Parser {
    /// One of some words, in any case.
    static func choice(of choices: [Value], named name: @escaping @Sendable (Value) -> String) -> Self {
        Self(shape: .choice(choices.map(name))) { (text) throws(Setting.Problem) in
            guard let choice = choices.first(where: { name($0) == text.lowercased() }) else {
                throw Setting.Problem(what: "is none of \(choices.map(name).joined(separator: ", "))")
            }
            return choice
        }
    }

    static func choice() -> Self where Value: CaseIterable & RawRepresentable<String> {
        choice(of: Array(Value.allCases)) { $0.rawValue }
    }
}

extension Setting.Parser where Value == Configuration.TranscriberChoice {
    static let transcriber = Self { (text) throws(Setting.Problem) in
        if text == "fake" { return .fake }
        if text.hasPrefix("command:") { return .command(String(text.dropFirst("command:".count))) }
        let services: [(String, @Sendable (URL) -> Configuration.TranscriberChoice)] = [
            ("openai:", { .openAI($0) }), ("deepgram:", { .deepgram($0) }),
        ]
        for (prefix, choice) in services where text.hasPrefix(prefix) {
            guard let url = URL(string: String(text.dropFirst(prefix.count))), let host = url.host(),
                !host.isEmpty, ["http", "https"].contains(url.scheme)
            else {
                throw Setting.Problem(what: "names no http or https address; write \(prefix)https://stt.example/v1")
            }
            return choice(url)
        }
        throw Setting.Problem(
            what: "is no transcriber; use fake, openai:URL, deepgram:URL or command:PROGRAM ARGUMENTS")
    }
}

extension Setting.Parser where Value == [String] {
    /// Origins as browsers send them: scheme, host and perhaps a port, without a path; or `*`.
    static let origins = Self(shape: .list) { (text) throws(Setting.Problem) in
        let origins = list(text)
        for origin in origins where origin != "*" {
            let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty else {
                throw Setting.Problem(what: "must be origins such as https://app.example, or *")
            }
        }
        return origins
    }

    /// `scribe.example,*.staging.example`, or `*`.
    static let hosts = Self(shape: .list) { (text) throws(Setting.Problem) in
        let hosts = list(text)
        guard hosts.allSatisfy({ $0 == "*" || CertificateName($0) != nil }) else {
            throw Setting.Problem(what: "must be hosts such as scribe.example or *.scribe.example, without ports, or *")
        }
        return hosts
    }

    fileprivate static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

extension Setting.Parser where Value == [String: ClientProfile] {
    /// `my-app=ios,kiosk=web`.
    static let clientProfiles = Self(shape: .list) { (text) throws(Setting.Problem) in
        var profiles: [String: ClientProfile] = [:]
        for entry in Setting.Parser<[String]>.list(text) {
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Setting.Problem(what: "must be ID=PROFILE") }
            guard let profile = ClientProfile.named.first(where: { $0.name == parts[1] }) else {
                let known = ClientProfile.named.map(\.name).joined(separator: ", ")
                throw Setting.Problem(what: "names the profile '\(parts[1])', which is none of \(known)")
            }
            profiles[parts[0]] = profile
        }
        return profiles
    }
}

extension Setting.Parser where Value == Data {
    /// What is in a file, without the line end.
    static let file = Self { (path) throws(Setting.Problem) in
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Setting.Problem(what: "cannot be read")
        }
        return Data(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines).utf8)
    }
}

extension Setting.Parser where Value == String {
    /// Scheme, host and perhaps a port, without a slash at its end.
    static let origin = Self { (text) throws(Setting.Problem) in
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard !trimmed.isEmpty else { return "" }
        guard let url = URL(string: trimmed), ["http", "https"].contains(url.scheme), let host = url.host(),
            !host.isEmpty,
            url.path().isEmpty, url.query() == nil, url.fragment() == nil, url.user() == nil
        else { throw Setting.Problem(what: "must be like https://scribe.example") }
        return trimmed
    }
}

extension Setting.Parser where Value == String {
    /// Of a document; empty for none.
    static let url = Self { (text) throws(Setting.Problem) in
        guard text.isEmpty || (try? OutboundAddress(text)) != nil else {
            throw Setting.Problem(what: "must be an http or https URL")
        }
        return text
    }
}

extension Setting.Parser where Value == OutboundTrust {
    /// A PEM file; empty for none.
    static let authorities = Self { (path) throws(Setting.Problem) in
        guard !path.isEmpty else { return .machine }
        guard let trust = OutboundTrust(pem: try Setting.Parser<Data>.file.read(path)) else {
            throw Setting.Problem(what: "holds no certificate in PEM")
        }
        return trust
    }
}

extension Setting.Parser where Value == [IPRange] {
    /// `127.0.0.1,10.0.0.0/8`.
    static let ranges = Self(shape: .list) { (text) throws(Setting.Problem) in
        var ranges: [IPRange] = []
        for entry in Setting.Parser<[String]>.list(text) {
            guard let range = IPRange(entry) else {
                throw Setting.Problem(what: "holds '\(entry)', which is no address and no range such as 10.0.0.0/8")
            }
            ranges.append(range)
        }
        return ranges
    }
}

extension Setting.Parser where Value == [OutboundRules.Exception] {
    /// `receiver,10.0.0.0/8`.
    static let outboundExceptions = Self(shape: .list) { (text) throws(Setting.Problem) in
        var exceptions: [OutboundRules.Exception] = []
        for entry in Setting.Parser<[String]>.list(text) {
            guard let exception = OutboundRules.Exception(entry) else {
                throw Setting.Problem(what: "holds '\(entry)', which is no host and no range such as 10.0.0.0/8")
            }
            exceptions.append(exception)
        }
        return exceptions
    }
}

extension Setting.Parser where Value == [CertificateName] {
    /// `scribe.test,192.168.1.20`.
    static let certificateNames = Self(shape: .list) { (text) throws(Setting.Problem) in
        var names: [CertificateName] = []
        for entry in Setting.Parser<[String]>.list(text) {
            guard let name = CertificateName(entry) else {
                throw Setting.Problem(what: "holds '\(entry)', which is no host such as scribe.test and no address")
            }
            names.append(name)
        }
        return names
    }
}
