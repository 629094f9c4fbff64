import HTTPTypes

/// Differences between clients of live recognition, for one client.
struct ListenClientProfile: Hashable, Sendable {
    /// Whether the client reads the status of a refused handshake.
    ///
    /// Android apps look for `401` in OkHttp's failure. React Native on Android sends the same User-Agent and accepts
    /// both.
    let seesRefusals: Bool

    init(_ headers: HTTPFields) { seesRefusals = headers[.userAgent]?.hasPrefix("okhttp/") ?? false }
}
