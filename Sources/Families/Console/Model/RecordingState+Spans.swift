import Basics
import Foundation

/// Spans of time in the words of the console.
extension RecordingState {
    /// A span of time, roughly.
    static func span(_ seconds: TimeInterval) -> String {
        switch seconds {
        case ..<60: "\(max(0, Int(saturating: seconds))) s"
        case ..<3600: "\(Int(saturating: seconds / 60)) min"
        case ..<86_400: "\(Int(saturating: seconds / 3600)) h"
        default: "\(Int(saturating: seconds / 86_400)) d"
        }
    }

    /// A span of time, as it was measured.
    static func precise(_ seconds: TimeInterval) -> String {
        if seconds < 1 { return "\(Int(saturating: (seconds * 1000).rounded())) ms" }
        if seconds < 60 { return "\((seconds * 10).rounded() / 10) s" }
        return clock(seconds)
    }

    /// Minutes and seconds of a recording.
    static func clock(_ seconds: TimeInterval) -> String {
        let whole = Int(saturating: max(0, min(seconds, 864_000)))
        return "\(whole / 60):\((whole % 60).padded(to: 2))"
    }
}
