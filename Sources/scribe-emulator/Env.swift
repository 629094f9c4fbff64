import ArgumentParser
import Foundation
import ScribeServer

struct Env: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what a client needs: base URL, client id and client secret of the demo seed.",
        discussion: """
            The running server says whether it knows the demo client. Without one, the settings say whether a server \
            that is started with them will.
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, dotenv, json
    }

    @OptionGroup var control: ControlOptions

    @Option(help: "text, dotenv or json.")
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
            if let tls { print("over TLS       \(tls.url)\nto be trusted  \(tls.authority ?? "by its issuer")") }
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

    /// The demo client, where the server knows it.
    /// - Throws: `ExitCode` where a server answers and does not know it, `ValidationError` where none answers and the
    ///   settings leave it out.
    private func demoClient(asking client: ControlClient) async throws -> DemoCredentials {
        do {
            let data = try await client.answer("GET", "info")
            guard let info: ServerInfo = try? ControlClient.decoded(data) else {
                throw ControlClient.Refusal(
                    reason: "\(client.baseURL) does not answer as a scribe-emulator does", status: 200)
            }
            if info.knowsDemoClient ?? (info.settings["auth"] != "strict") { return try DemoCredentials.first() }
            StandardError.write(
                """
                scribe-emulator: the server at \(client.baseURL) knows no demo client. \
                Log in as a client of its clients file, or start it with --demo-seed
                """)
            throw ExitCode.failure
        } catch let refusal as ControlClient.Refusal {
            guard let demo = DemoCredentials.shown(for: try control.target.run().configuration) else {
                throw ValidationError("a server with these settings lets no demo client in; --demo-seed lets it in")
            }
            if refusal.status != nil {
                StandardError.write(
                    "scribe-emulator: the server did not say whether it knows this client: \(refusal.reason)")
            }
            return demo
        }
    }

    /// Where live audio goes.
    static func socketURL(_ baseURL: String) -> String { serverSocketURL(baseURL) + "/v1/listen" }

    /// A base URL for WebSockets.
    static func serverSocketURL(_ baseURL: String) -> String {
        baseURL.replacingOccurrences(of: "http", with: "ws", options: .anchored)
    }
}
