import ArgumentParser
import Basics
import Certificates
import Foundation
import NIOCore
import ScribeDomain
import ScribeRuntime
import ScribeServer

struct Ready: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ready",
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
            if let baseURL = try baseURL(), await isReady(baseURL) {
                print("ready: \(baseURL)")
                return
            }
            guard wait, clock.now < deadline else { break }
            try await clock.sleep(for: .milliseconds(100), as: .readiness)
        }
        let reason =
            try baseURL().map {
                "no \(strict ? "server with a recogniser and room for uploads" : "server") is ready at \($0); run scribe-emulator doctor --url \($0) to find out why"
            } ?? target.readyFileProblem()
        throw ExitCode.explained("not ready: \(reason)")
    }

    /// The base URL of the server: without arguments the own one. A container's health check must not ask the server
    /// that its clients use.
    private func baseURL() throws -> String? { try target.place(byVariable: false)?.server }

    private func isReady(_ baseURL: String) async -> Bool {
        let answer = try? await OneRequest.answer("GET", "\(baseURL)/readyz", within: .seconds(2))
        // A 200 alone may come from another server.
        guard let answer, answer.status == 200,
            let readiness = try? JSONDocument(answer.body).decode(Readiness.self)
        else { return false }
        guard strict else { return true }
        // The value is the recogniser's name, and its problem if it has one: `openai unreachable`.
        return readiness.components["storage"] == "ready"
            && readiness.components["transcriber"].map { !$0.contains(" ") } ?? false
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

    /// The place of a server that must be ready.
    /// - Throws: `ValidationError` if there is no ready file yet, or the base URL is invalid.
    func readyPlace() throws -> Place {
        if let place = try place() { return place }
        throw ValidationError("the server is not ready yet: \(try readyFileProblem())")
    }

    /// An error for a missing or invalid ready file.
    func readyFileProblem() throws -> String {
        let path = try run().readyFile ?? ""
        return FileManager.default.fileExists(atPath: path)
            ? "\(path) is not a ready file; name the file that serve --ready-file writes"
            : "the ready file \(path) does not exist; run scribe-emulator ready --wait to wait for it"
    }

    /// A server, and the namespace that its base URL leads to.
    struct Place {
        let server: String
        var namespace: NamespaceName?
        /// Whether `SCRIBE_BASE_URL` names it, as in a command of `exec`.
        var isOfVariable = false

        /// The base URL for clients.
        var url: String { server + (namespace.map { "/ns/\($0)" } ?? "") }
    }

    /// The place of the server: `--url`, else the ready file, else `SCRIBE_BASE_URL`, else the settings. Nil if a
    /// ready file is named and does not exist.
    /// - Parameter byVariable: whether `SCRIBE_BASE_URL` counts.
    /// - Throws: `ValidationError` if the base URL is invalid.
    func place(byVariable: Bool = true) throws -> Place? {
        if let url { return try Self.place(url, from: "--url") }
        let run = try run()
        if let path = run.readyFile { return ReadyFile(path: path).read().map { Place(server: $0.base_url) } }
        if byVariable, let url = Invocation.current.environment["SCRIBE_BASE_URL"] {
            var place = try Self.place(url, from: "SCRIBE_BASE_URL")
            place.isOfVariable = true
            return place
        }
        return Place(server: Banner(configuration: run.configuration, port: run.configuration.port).baseURL)
    }

    /// Reads a base URL, with `/ns/NAME` at its end or without.
    /// - Parameter origin: The flag or variable that it comes from, for the error.
    private static func place(_ text: String, from origin: String) throws -> Place {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), let host = url.host(),
            !host.isEmpty, url.user() == nil, (1...65535).contains(url.port ?? 80)
        else {
            throw ValidationError(
                "\(origin): '\(Settings.masked(text))' is not a base URL; write for example http://127.0.0.1:8087")
        }
        let base = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let range = base.range(of: "/ns/", options: .backwards),
            let name = NamespaceName(base[range.upperBound...].prefix { $0 != "/" })
        else { return Place(server: base) }
        return Place(server: String(base[..<range.lowerBound]), namespace: name)
    }
}
