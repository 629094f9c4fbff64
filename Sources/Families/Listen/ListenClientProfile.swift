import HTTPTypes

/// What one client of live recognition needs that others do not.
struct ListenClientProfile: Hashable, Sendable {
    /// Whether it sees the status of a handshake that is refused, and looks for it there: Android's apps look for `401` in
    /// the failure that OkHttp reports. React Native on Android sends the same name, and takes either.
    let seesRefusals: Bool

    init(_ headers: HTTPFields) { seesRefusals = headers[.userAgent]?.hasPrefix("okhttp/") ?? false }
}
