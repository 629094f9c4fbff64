/// Way in which a session's client sends audio (medscribe.md 2.1).
package enum UploadType: String, Hashable, Sendable, CaseIterable {
    /// One complete file.
    case single
    case chunked
    /// Audio over a WebSocket.
    case stream
}
