import ArgumentParser
import Certificates
import Foundation
import NIOCore
import ScribeDomain
import ScribeRuntime
import ScribeServer

struct Ready: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask whether the server is ready; exit code 0 says yes. For health checks."
    )

    @OptionGroup var target: TargetOptions

    @Flag(help: "Wait until it is.")
    var wait = false

    @Flag(help: "Also ask whether the recogniser can be reached.")
    var strict = false

    @Option(help: "How long to wait at most, for example 30s.")
    var timeout = "30s"

    func run() async throws {
        guard let limit = Duration(setting: timeout) else {
            throw ValidationError("--timeout: '\(timeout)' is not a time; write 30s")
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
                "no \(strict ? "server with a recogniser" : "server") is ready at \($0); scribe-emulator doctor --url \($0) says why"
            } ?? target.readyFileProblem()
        StandardError.write("scribe-emulator: not ready: \(reason)")
        throw ExitCode.failure
    }

    private func isReady(_ baseURL: String) async -> Bool {
        let answer = try? await OneRequest.answer("GET", "\(baseURL)/readyz", within: .seconds(2))
        // Another server may answer 200 to whatever it is asked.
        guard let answer, answer.status == 200,
            let readiness = try? JSONDecoder().decode(Readiness.self, from: answer.body)
        else { return false }
        // A recogniser with a fault has it beside its name: `openai unreachable`.
        return !strict || readiness.components["transcriber"].map { !$0.contains(" ") } ?? false
    }

    private struct Readiness: Decodable {
        let components: [String: String]
    }
}

/// Which server a verb is about.
struct TargetOptions: ParsableArguments {
    @Option(help: "The server's base URL.")
    var url: String?

    @Option(help: ArgumentHelp("The file that the server writes when it is ready.", valueName: "path"))
    var readyFile: String?

    @Option(help: "The YAML file that the server was started with.")
    var config: String?

    /// The settings that a server would be started with here.
    func run() throws -> Setting.Run {
        try Settings.found(flags: readyFile.map { ["ready-file": $0] } ?? [:], configFile: config)
    }

    /// Where the server speaks TLS, and the file with what is to be trusted there, if that is this machine's authority.
    /// Nil where it does not, or nobody knows.
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

    /// The base URL, for a verb that needs it now.
    /// - Throws: `ValidationError` while a ready file is named and not there.
    func readyBaseURL() throws -> String {
        if let url = try baseURL() { return url }
        throw ValidationError("the server is not ready yet: \(try readyFileProblem())")
    }

    /// Why the ready file names no server, and what helps.
    func readyFileProblem() throws -> String {
        let path = try run().readyFile ?? ""
        return FileManager.default.fileExists(atPath: path)
            ? "\(path) is no ready file; name the one that serve --ready-file writes"
            : "there is no ready file \(path). scribe-emulator ready --wait waits for it"
    }

    /// From the flag, else from the ready file, else from the environment, else from the settings. Nil while a ready
    /// file is named and not there.
    /// - Throws: `ValidationError` for what is no base URL.
    func baseURL() throws -> String? {
        if let url { return try Self.baseURL(url, from: "--url") }
        let run = try run()
        if let path = run.readyFile { return ReadyFile(path: path).read()?.base_url }
        if let url = ProcessInfo.processInfo.environment["SCRIBE_BASE_URL"], !url.isEmpty {
            return try Self.baseURL(url, from: "SCRIBE_BASE_URL")
        }
        return Banner(configuration: run.configuration, port: run.configuration.port).baseURL
    }

    /// A base URL without a slash at its end.
    private static func baseURL(_ text: String, from origin: String) throws -> String {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), let host = url.host(),
            !host.isEmpty, url.user() == nil
        else {
            throw ValidationError("\(origin): '\(Settings.masked(text))' must be like http://127.0.0.1:8087")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
