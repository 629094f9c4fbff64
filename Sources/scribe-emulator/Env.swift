import ArgumentParser
import Foundation
import ScribeServer

struct Env: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what a client needs: base URL, client id and client secret of the demo seed."
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, dotenv, json
    }

    @OptionGroup var target: TargetOptions

    @Option(help: "text, dotenv or json.")
    var format = Format.text

    func run() throws {
        guard let baseURL = try target.baseURL() else { throw ValidationError("the server is not ready yet") }
        guard let demo = DemoCredentials.shown(for: try target.run().configuration) else {
            throw ValidationError("a server with these settings lets no demo client in")
        }
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

    /// Where live audio goes.
    static func socketURL(_ baseURL: String) -> String {
        baseURL.replacingOccurrences(of: "http", with: "ws", options: .anchored) + "/v1/listen"
    }
}
