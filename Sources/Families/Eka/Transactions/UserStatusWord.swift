import ScribeDomain
import ScribeHTTP

/// `user_status` as the web client knows it, which tells between a transaction that was begun and one that is recorded
/// (eka.md 4.1). Histories have no such word: older iOS clients could not read it.
struct UserStatusWord: Hashable, Sendable {
    static let recordingStarted = "recording_started"

    let text: String

    init(_ transaction: Transaction) {
        let isRecorded = transaction.userStatus == .initialized && transaction.request.hasStartedRecording == true
        text = isRecorded ? Self.recordingStarted : transaction.userStatus.rawValue
    }
}
