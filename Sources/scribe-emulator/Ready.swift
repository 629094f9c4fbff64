import ArgumentParser
import Certificates
import Foundation
import NIOCore
import ScribeDomain
import ScribeRuntime
import ScribeServer

struct Ready: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check whether the server is ready, for health checks. Exits 0 if it is, else 1."
    )

    @OptionGroup var target: TargetOptions

    @Flag(help: "Wait until the server is ready.")
    var wait = false

    @Flag(help: "Also check that the recogniser can be reached, and that there is room for uploads.")
    var strict = false

    @Option(help: "How long to wait at most.")
    var timeout = "30s"

    func run() async throws {
        guard let limit = Duration(setting: timeout) else {
            throw ValidationError("--timeout: '\(timeout)' is not a time; write for example 30s")
        }
        let clock = WallClock.system
        let deadline = clock.now.addingTimeInterval(limit / .seconds(1))
        while true {
            if let baseURL = try target.baseURL(), await isReady(baseURL) {
                print("ready: \(baseURL)")
                return
            }
            guard wait, clock.now < deadline else { break }
            try await clock.sleep(for: .milliseconds(100), as: .readiness)
        }
        let reason =
            try target.baseURL().map {
                "no \(strict ? "server with a recogniser and room for uploads" : "server") is ready at \($0); run scribe-emulator doctor --url \($0) to find out why"
            } ?? target.readyFileProblem()
        StandardError.write("scribe-emulator: not ready: \(reason)")
        throw ExitCode.failure
    }

    private func isReady(_ baseURL: String) async -> Bool {
        let answer = try? await OneRequest.answer("GET", "\(baseURL)/readyz", within: .seconds(2))
        // A 200 alone may come from another server.
        guard let answer, answer.status == 200,
            let readiness = try? JSONDecoder().decode(Readiness.self, from: answer.body)
        else { return false }
        guard strict else { return true }
        // The value is the recogniser's name, and its problem if it has one: `openai unreachable`.
        return readiness.components["storage"] == "ready"
            && readiness.components["transcriber"].map { !$0.contains(" ") } ?? false
    }

    private struct Readiness: Decodable {
        let components: [String: String]
    }
}

/// Flags that select a running server.
struct TargetOptions: ParsableArguments {
    @Option(help: "The server's base URL.")
    var url: String?

    @Option(help: ArgumentHelp("The file that serve --ready-file writes.", valueName: "path"), transform: Setting.path)
    var readyFile: String?

    @Option(help: "The YAML file with the server's settings.", transform: Setting.path)
    var config: String?

    /// The settings that `serve` would use here.
    func run() throws -> Setting.Run {
        try Settings.found(flags: readyFile.map { ["ready-file": $0] } ?? [:], configFile: config)
    }

    /// The base URL over TLS, and the path of the certificate authority that clients must trust. The path is nil for a
    /// certificate of the user's own. The result is nil without TLS, or if neither a ready file nor the settings tell.
    func tls() throws -> (url: String, authority: String?)? {
        let run = try run()
        let configuration = run.configuration
        let authority =
            configuration.tls.certificate == nil
            ? configuration.developmentCertificates(.random).authorityPath : nil
        if let path = run.readyFile { return ReadyFile(path: path).read()?.tls_url.map { ($0, authority) } }
        guard url == nil, configuration.tls.isOn else { return nil }
        let banner = Banner(configuration: configuration, port: configuration.port, tlsPort: configuration.tls.port)
        return banner.tlsURL.map { ($0, authority) }
    }

    /// The base URL of a server that must be ready.
    /// - Throws: `ValidationError` if there is no ready file yet, or the base URL is invalid.
    func readyBaseURL() throws -> String {
        if let url = try baseURL() { return url }
        throw ValidationError("the server is not ready yet: \(try readyFileProblem())")
    }

    /// An error for a missing or invalid ready file.
    func readyFileProblem() throws -> String {
        let path = try run().readyFile ?? ""
        return FileManager.default.fileExists(atPath: path)
            ? "\(path) is not a ready file; name the file that serve --ready-file writes"
            : "the ready file \(path) does not exist; run scribe-emulator ready --wait to wait for it"
    }

    /// The base URL of the server: `--url`, else the ready file, else `SCRIBE_BASE_URL`, else the settings. Nil if a
    /// ready file is named and does not exist.
    /// - Throws: `ValidationError` if the base URL is invalid.
    func baseURL() throws -> String? {
        if let url { return try Self.baseURL(url, from: "--url") }
        let run = try run()
        if let path = run.readyFile { return ReadyFile(path: path).read()?.base_url }
        if let url = Invocation.current.environment["SCRIBE_BASE_URL"] {
            return Self.split(try Self.baseURL(url, from: "SCRIBE_BASE_URL")).server
        }
        return Banner(configuration: run.configuration, port: run.configuration.port).baseURL
    }

    /// The namespace of `SCRIBE_BASE_URL`, as `exec --ns` sets it for its command; nil where another place names the
    /// server.
    func namespace() throws -> NamespaceName? {
        guard url == nil, try run().readyFile == nil else { return nil }
        return Invocation.current.environment["SCRIBE_BASE_URL"].flatMap { Self.split($0).namespace }
    }

    /// Splits a base URL that leads to a namespace.
    static func split(_ url: String) -> (server: String, namespace: NamespaceName?) {
        guard let range = url.range(of: "/ns/", options: .backwards),
            let name = NamespaceName(url[range.upperBound...].prefix { $0 != "/" })
        else { return (url, nil) }
        return (String(url[..<range.lowerBound]), name)
    }

    /// Checks a base URL and removes a slash at its end.
    /// - Parameter origin: The flag or variable that it comes from, for the error.
    private static func baseURL(_ text: String, from origin: String) throws -> String {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), let host = url.host(),
            !host.isEmpty, url.user() == nil
        else {
            throw ValidationError(
                "\(origin): '\(Settings.masked(text))' is not a base URL; write for example http://127.0.0.1:8087")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
