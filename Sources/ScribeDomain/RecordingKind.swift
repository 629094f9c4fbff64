/// The way in which a recording was started, by the word of the family that has started it. It is stored: words never
/// change.
package struct RecordingKind: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// By init, or by a form of whole files.
    package static let transaction = RecordingKind("transaction")
    /// By a device, word by word.
    package static let conversation = RecordingKind("conversation")
}

/// Which files are the audio of a recording, and until when they come.
package enum AudioIntake: String, Hashable, Sendable, CaseIterable {
    /// Those that its client lists when it stops and commits. They may come after that.
    case listed
    /// Those that have come when it ends. Nothing comes after that (medscribe.md 2.4).
    case arrived
    /// Stretches, each from a start that its client names. They may come late, twice or out of order (suki.md 5).
    case stretches
}

/// How the client of a session sends its audio (medscribe.md 2.1).
package enum UploadType: String, Hashable, Sendable, CaseIterable {
    /// One complete recording.
    case single
    case chunked
    /// Over a socket.
    case stream
}
