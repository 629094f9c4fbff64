import HTTPTypes
import ScribeDomain
import ScribeRuntime

/// State of a protocol session in the protocol's words (medscribe.md 2.2 and section 8).
enum SessionState: String, Hashable, Sendable {
    case initialized
    /// Stopped through the older API, and not yet committed.
    case recording
    case expired
    case processing
    case completed
    case partial
    case failed
    case cancelled

    init(_ found: ProtocolSessions.Contents) {
        switch found.transaction.userStatus {
        case .initialized: self = found.isExpired ? .expired : .initialized
        case .stopped: self = found.isExpired ? .expired : .recording
        case .cancelled: self = .cancelled
        case .committed:
            switch found.documents.outcome {
            case .inProgress: self = .processing
            case .success: self = .completed
            case .partial: self = .partial
            case .failure: self = .failed
            }
        }
    }

    /// The state as clients read it. They poll until completed, partial, failed or expired (row 43).
    var word: String { self == .cancelled ? Self.failed.rawValue : rawValue }

    var httpStatus: HTTPResponse.Status {
        switch self {
        case .initialized, .recording, .processing: .accepted
        case .completed, .failed, .cancelled: .ok
        case .partial: .partialContent
        case .expired: .gone
        }
    }

    var isFinal: Bool { ![.initialized, .recording, .processing].contains(self) }
}
