/// What `/__admin/info` says of a running server.
struct ServerInfo: Decodable {
    let settings: [String: String]

    /// Whether the demo clients may log in; nil where an earlier version does not say.
    var knowsDemoClient: Bool? { settings["demo_seed"].map { $0 == "true" } }
    /// The port for TLS; nil without TLS.
    var tlsPort: Int? { settings["tls_port"].flatMap { Int($0) } }
}
