import ScribeDomain
import ScribeHTTP

/// `user_status` with the web client's extra value `recording_started` (eka.md 4.1).
///
/// Histories use the plain status: older iOS SDKs could not read the extra value.
struct UserStatusWord: Hashable, Sendable {
    static let recordingStarted = "recording_started"

    let text: String

    init(_ transaction: Transaction) {
        let isRecorded = transaction.userStatus == .initialized && transaction.request.hasStartedRecording == true
        text = isRecorded ? Self.recordingStarted : transaction.userStatus.rawValue
    }
}
