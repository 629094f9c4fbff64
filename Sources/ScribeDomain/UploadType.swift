/// How the client of a session sends its audio (medscribe.md 2.1).
package enum UploadType: String, Hashable, Sendable, CaseIterable {
    /// One complete recording.
    case single
    case chunked
    /// Over a socket.
    case stream
}
