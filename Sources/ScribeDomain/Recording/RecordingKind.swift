/// Kind of a recording, named by the family that started it. The name is stored and must never change.
package struct RecordingKind: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Recording started by init, or by a form upload of whole files.
    package static let transaction = RecordingKind("transaction")
    /// Recording started by a device, over a socket or over REST.
    package static let conversation = RecordingKind("conversation")
}

/// Rule that selects the audio files of a recording and the time until which they may arrive.
package enum AudioIntake: String, Hashable, Sendable, CaseIterable {
    /// Files that the client lists at stop and commit. They may arrive after the commit.
    case listed
    /// Files that have arrived when the recording ends. Later files are refused (medscribe.md 2.4).
    case arrived
    /// Files of audio segments, each from a start that the client names. Segments may arrive late,
    /// twice or out of order (suki.md 5).
    case segments
}
