/// The way in which a recording was started, by the word of the family that has started it. It is stored: words never
/// change.
package struct RecordingKind: StringIdentifier {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// A recording that was started by init, or by a form of whole files.
    package static let transaction = RecordingKind("transaction")
    /// A recording that was started by a device, over a socket or over REST.
    package static let conversation = RecordingKind("conversation")
}

/// Which files are the audio of a recording, and until when they come.
package enum AudioIntake: String, Hashable, Sendable, CaseIterable {
    /// Those that its client lists when it stops and commits. They may come after that.
    case listed
    /// Those that have come when it ends. Nothing comes after that (medscribe.md 2.4).
    case arrived
    /// Those of its segments, each from a start that its client names. Segments may come late, twice or out of order
    /// (suki.md 5).
    case segments
}
