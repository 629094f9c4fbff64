/// What became of a consultation that others may want to be told of, whichever API it was made by.
package enum SessionEvent: String, Hashable, Sendable, CaseIterable {
    case started
    /// Recording is over and processing has begun.
    case ended
    case completed
    /// Some of the results are there, and some have failed.
    case partial
    case failed
    /// It was never ended, and its time is over.
    case expired
    /// Its client gave it up.
    case cancelled

    /// How processing ended.
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
