/// Event in the life of a recording that webhooks can announce, whichever API made the recording.
package enum SessionEvent: String, Hashable, Sendable, CaseIterable {
    case started
    /// The recording stopped and processing began.
    case ended
    case completed
    /// Some results are ready, and others failed.
    case partial
    case failed
    /// The recording was not ended within its lifetime.
    case expired
    /// The client cancelled the recording.
    case cancelled

    /// Maps the outcome of processing to its event; nil if no event announces the outcome.
    package init?(_ outcome: Transaction.ProcessingStatus, documents: [ResultDocument]) {
        switch outcome {
        case .inProgress, .cancelled: return nil
        case .systemFailure, .requestFailure: self = .failed
        case .success:
            switch documents.filter(\.status.isFinal).outcome {
            case .inProgress, .success: self = .completed
            case .partial: self = .partial
            case .failure: self = .failed
            }
        }
    }
}
