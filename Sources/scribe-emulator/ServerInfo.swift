/// Answer of `GET /__admin/info`.
struct ServerInfo: Decodable {
    let settings: [String: String]

    /// Whether the demo clients may log in; nil from a server of an older version.
    var knowsDemoClient: Bool? { settings["demo_seed"].map { $0 == "true" } }
    /// The port for TLS; nil without TLS.
    var tlsPort: Int? { settings["tls_port"].flatMap { Int($0) } }
}
