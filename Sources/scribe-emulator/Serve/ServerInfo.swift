/// Answer of `GET /__admin/info`.
struct ServerInfo: Decodable {
    let settings: [String: String]

    /// Whether the demo clients may log in.
    var knowsDemoClient: Bool { settings["demo_seed"] == "true" }
    /// The port for TLS; nil without TLS.
    var tlsPort: Int? { settings["tls_port"].flatMap { Int($0) } }
}

/// Answer of `GET /readyz`.
struct Readiness: Decodable {
    let components: [String: String]
}
