import ScribeDomain

/// Name of plain transactions; their rules are the usual ones.
struct TransactionPolicy: RecordingPolicy {
    let kind = RecordingKind.transaction
    let title = "EkaScribe"
}
