import ArgumentParser
import Foundation
import ScribeServer

struct Env: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what a client of the server needs: its URLs, and the credentials of the demo client.",
        discussion: """
            Asks the running server whether the demo client may log in. If no server answers, the settings decide.
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, dotenv, json
    }

    @OptionGroup var control: ControlOptions

    @Option(help: "How to print it: text, dotenv or json.")
    var format = Format.text

    func run() async throws {
        let target = control.target
        let client = try control.client()
        let baseURL = client.baseURL
        let demo = try await demoClient(asking: client)
        let tls = try target.tls()
        switch format {
        case .text:
            print("base URL       \(baseURL)\nclient id      \(demo.clientID)\nclient secret  \(demo.clientSecret)")
            print("API key        \(demo.apiKey)\nlive audio     \(Self.socketURL(baseURL))")
            if let tls {
                print("over TLS       \(tls.url)\ntrusted CA     \(tls.authority ?? "the issuer of your certificate")")
            }
        case .dotenv:
            let values = [
                baseURL, demo.clientID, demo.clientSecret, demo.apiKey, Self.socketURL(baseURL), tls?.url,
                tls?.authority,
            ]
            for case (let name, let value?) in zip(Setting.exportedNames, values) { print("\(name)=\(value)") }
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            var object = [
                "base_url": baseURL, "client_id": demo.clientID, "client_secret": demo.clientSecret,
                "api_key": demo.apiKey, "listen_url": Self.socketURL(baseURL),
            ]
            object["tls_url"] = tls?.url
            object["ca_file"] = tls?.authority
            print(String(decoding: try encoder.encode(object), as: UTF8.self))
        }
    }

    /// The credentials of the demo client, if it may log in.
    /// - Throws: `ExitCode` if a server answers and has no demo client; `ValidationError` if no server answers and the
    ///   settings turn the demo client off.
    private func demoClient(asking client: ControlClient) async throws -> DemoCredentials {
        do {
            let data = try await client.answer("GET", "info")
            guard let info: ServerInfo = try? ControlClient.decoded(data) else {
                throw ControlClient.Refusal(
                    reason: "the server at \(client.baseURL) is not a scribe-emulator", status: 200)
            }
            if info.knowsDemoClient { return try DemoCredentials.first() }
            StandardError.write(
                """
                scribe-emulator: the server at \(client.baseURL) has no demo client. \
                Log in as a client of its clients file, or start the server with --demo-seed
                """)
            throw ExitCode.failure
        } catch let refusal as ControlClient.Refusal {
            guard let demo = DemoCredentials.shown(for: try control.target.run().configuration) else {
                throw ValidationError(
                    "these settings turn the demo client off; start the server with --demo-seed to turn it on")
            }
            if refusal.status != nil {
                StandardError.write(
                    "scribe-emulator: the server did not tell whether this client may log in: \(refusal.reason)")
            }
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
