package import Foundation

/// Time for which a recording may stay open.
package struct RecordingLifetime: Hashable, Sendable {
    /// From its beginning, in seconds.
    package let length: TimeInterval
    /// From its last audio, in seconds; nil if audio makes it no longer.
    private let afterAudio: TimeInterval?

    package init(_ length: TimeInterval, afterAudio: TimeInterval? = nil) {
        self.length = length
        self.afterAudio = afterAudio
    }

    /// The time from which on the recording takes nothing more.
    ///
    /// It has no fraction of a second, as the times of answers: clients may not be refused before the time that they
    /// were told. A length below a minute is for tests, and keeps its fraction.
    /// - Parameter lastAudio: time of the last audio; nil without any.
    package func end(begun: Date, lastAudio: Date?) -> Date {
        var end = begun.timeIntervalSince1970 + length
        if let lastAudio, let afterAudio { end = max(end, lastAudio.timeIntervalSince1970 + afterAudio) }
        return Date(timeIntervalSince1970: length < 60 ? end : end.rounded(.down))
    }
}
