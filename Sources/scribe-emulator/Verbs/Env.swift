import ArgumentParser
import Foundation
import ScribeServer

struct Env: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "env",
        abstract: "Print what a client of the server needs: its URLs, and the credentials of the demo client.",
        discussion: """
            Asks the running server whether the demo client may log in. In a command of exec it prints the credentials that \
            exec gave it.
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, dotenv, json
    }

    @OptionGroup var control: ControlOptions

    @Option(help: "How to print it: text, dotenv or json.")
    var format = Format.text

    func run() async throws {
        let place = try control.target.readyPlace()
        let own = place.isOfVariable ? Invocation.current.environment : [:]
        let demo = try await demoClient(asking: control.client(), isNeeded: own["SCRIBE_CLIENT_ID"] == nil)
        let tls = try control.target.tls()
        let values: [(variable: String, key: String, title: String, value: String?)] = [
            ("SCRIBE_BASE_URL", "base_url", "base URL", place.url),
            ("SCRIBE_CLIENT_ID", "client_id", "client id", demo?.clientID),
            ("SCRIBE_CLIENT_SECRET", "client_secret", "client secret", demo?.clientSecret),
            ("SCRIBE_API_KEY", "api_key", "API key", demo?.apiKey),
            ("SCRIBE_API_KEY_HEX", "api_key_hex", "API key in hex", demo?.hexKey),
            ("SCRIBE_LISTEN_URL", "listen_url", "live audio", Self.socketURL(place.url)),
            ("SCRIBE_TLS_URL", "tls_url", "over TLS", tls.map { $0.url + place.url.dropFirst(place.server.count) }),
            ("SCRIBE_CA_FILE", "ca_file", "trusted CA", tls?.authority),
        ]
        // A command of `exec` has the credentials of its namespace, which no answer of the server has.
        let known = values.compactMap { entry in (entry.value ?? own[entry.variable]).map { (entry, $0) } }
        switch format {
        case .text:
            for (entry, value) in known {
                print(entry.title.padding(toLength: 15, withPad: " ", startingAt: 0) + value)
            }
            if tls != nil, tls?.authority == nil { print("trusted CA     the issuer of your certificate") }
        case .dotenv:
            for (entry, value) in known { print("\(entry.variable)=\(value)") }
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let object = Dictionary(uniqueKeysWithValues: known.map { ($0.key, $1) })
            print(String(decoding: try encoder.encode(object), as: UTF8.self))
        }
    }

    /// The credentials of the demo client, if it may log in; nil if they are not needed.
    /// - Throws: `ExitCode` if no server answers, or one that has no demo client; `ValidationError` if the server does
    ///   not tell and the settings turn the demo client off.
    private func demoClient(asking client: ControlClient, isNeeded: Bool) async throws -> DemoCredentials? {
        do {
            let data = try await client.answer("GET", "info")
            guard let info: ServerInfo = try? ControlClient.decoded(data) else {
                throw ControlClient.Refusal(
                    reason: "the server at \(client.baseURL) is not a scribe-emulator", status: 200)
            }
            guard isNeeded else { return nil }
            if info.knowsDemoClient { return try DemoCredentials.first() }
            throw ExitCode.explained(
                """
                the server at \(client.baseURL) has no demo client. \
                Log in as a client of its clients file, or start the server with --demo-seed
                """)
        } catch let refusal as ControlClient.Refusal {
            guard refusal.status != nil else {
                throw ExitCode.explained(refusal.reason, as: .notReachable)
            }
            guard isNeeded else { return nil }
            guard let demo = DemoCredentials.shown(for: try control.target.run().configuration) else {
                throw ValidationError(
                    "these settings turn the demo client off; start the server with --demo-seed to turn it on")
            }
            StandardError.write(
                "scribe-emulator: the server did not tell whether this client may log in: \(refusal.reason)")
            return demo
        }
    }

    /// The WebSocket URL for live audio.
    static func socketURL(_ baseURL: String) -> String { serverSocketURL(baseURL) + "/v1/listen" }

    /// The base URL with `ws` or `wss` in place of `http` or `https`.
    static func serverSocketURL(_ baseURL: String) -> String {
        baseURL.replacingOccurrences(of: "http", with: "ws", options: .anchored)
    }
}
