import HTTPTypes
import Hummingbird
import ScribeHTTP

/// Differences between clients of live recognition, for one client.
struct ListenClientProfile: Hashable, Sendable {
    /// Whether the client reads the status of a refused handshake.
    ///
    /// Android apps look for `401` in OkHttp's failure. React Native on Android sends the same User-Agent and accepts
    /// both.
    let seesRefusals: Bool
    /// Whether the client was made for SubQ, by its host or its key.
    ///
    /// SubQ's pages name no sample rate, which Deepgram demands for raw samples.
    let isSubQ: Bool
}

extension ListenClientProfile {
    init(_ request: Request) {
        seesRefusals = request.headers.value(of: .userAgent)?.hasPrefix("okhttp/") ?? false
        let host = HostAndPort(request.authority)?.host ?? ""
        isSubQ =
            ListenCredentials(request.headers).key?.hasPrefix("org_") ?? false
            || ListenFamily.subQHostNames.contains { host == $0 || host.hasSuffix(".\($0)") }
    }
}
