import Foundation
import ScribeHTTP
import ScribeServer

/// The start-up text of `serve` on a terminal: addresses, demo credentials and the main settings.
struct Banner {
    let configuration: Configuration
    let port: Int
    /// The port for TLS; nil without TLS.
    var tlsPort: Int?

    /// The base URL for clients. For `localhost` and a wildcard address it names the loopback address.
    var baseURL: String {
        "http://\(host):\(port)"
    }

    /// The base URL over TLS; nil without TLS. It names `localhost`: some clients refuse certificates for IP addresses.
    var tlsURL: String? { tlsPort.map { "https://\(configuration.isLoopback ? "localhost" : host):\($0)" } }

    private var host: String {
        let host = ["localhost", "0.0.0.0", "::"].contains(configuration.host) ? "127.0.0.1" : configuration.host
        return host.contains(":") ? "[\(host)]" : host
    }

    var text: String {
        var lines = [
            "",
            "  scribe-emulator \(ScribeVersion.current) is ready",
            "",
            "  API, uploads  \(baseURL)",
        ]
        if let tlsURL {
            lines.append("  Over TLS      \(tlsURL); for SDKs with fixed hosts see scribe-emulator doctor")
        }
        lines += [
            "  Console       \(baseURL)/__console\(consoleToken)",
            "  OpenAPI       \(baseURL)/openapi.yaml",
            "  Ready check   \(baseURL)/readyz",
            "  Operators     \(baseURL)/__admin/info",
        ]
        if let demo = DemoCredentials.shown(for: configuration) {
            lines.append("  Dev client    \(demo.clientID) / \(demo.clientSecret)")
            lines.append("  Live audio    \(Env.socketURL(baseURL)) with the key \(demo.apiKey)")
        }
        lines += [
            "  Auth          \(configuration.authMode.rawValue)",
            "  Web pages     \(webPages)",
            "  Transcriber   \(transcriber)",
            "  Notes         \(noteWriter)",
            "  Data          \(dataFolder)",
            "",
        ]
        if let demo = DemoCredentials.shown(for: configuration) {
            let body = #"{"client_id":"\#(demo.clientID)","client_secret":"\#(demo.clientSecret)"}"#
            lines += ["  Try it:", "  curl -s \(baseURL)/connect-auth/v1/account/login -d '\(body)'", ""]
        }
        lines += ["  Stop with Ctrl-C.", ""]
        return lines.joined(separator: "\n")
    }

    /// Words about the token that the console asks for; empty where it asks for none.
    private var consoleToken: String {
        if configuration.adminToken != nil { return ", with the token of --admin-token" }
        if configuration.isLoopback && configuration.authMode != .strict { return "" }
        let file = URL(fileURLWithPath: configuration.dataFolder).path + "/admin-token"
        return ", with the token of: "
            + (file == "/data/admin-token" ? "docker compose exec emulator cat \(file)" : "cat \(file)")
    }

    private var webPages: String {
        if let origins = configuration.allowedOrigins {
            return origins.contains("*") ? "any origin" : origins.joined(separator: ", ")
        }
        return configuration.authMode == .strict ? "none" : "localhost and *.eka.care; allow others with --cors-origins"
    }

    private var dataFolder: String {
        let path = URL(fileURLWithPath: configuration.dataFolder).path
        return configuration.isEphemeral ? "in memory, audio in \(path) (deleted at exit)" : path
    }

    private var noteWriter: String {
        switch configuration.noteWriter {
        case .rules: "rules (no language model)"
        case .openAI(let url): "openai: \(url.host() ?? "")"
        }
    }

    private var transcriber: String {
        switch configuration.transcriber {
        case .fake: "fake (fixed transcripts; it does not recognise speech)"
        case .command(let command): "command: \(command)"
        case .openAI(let url): "openai: \(url.host() ?? "")"
        case .deepgram(let url): "deepgram: \(url.host() ?? "")"
        }
    }
}
