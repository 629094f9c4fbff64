package import Foundation

/// Rules of one kind of recording that shared code needs. The family that starts such recordings contributes the
/// policy; only that family reads ``TransactionRequest/terms``.
package protocol RecordingPolicy: Sendable {
    var kind: RecordingKind { get }
    /// Name of the kind for people, such as `EkaScribe`.
    var title: String { get }
    /// Time within which a recording may be ended; nil for no limit.
    var lifetime: RecordingLifetime? { get }
    /// Least audio of a recording, in seconds: one with less, or without speech, is skipped, which is no failure; nil
    /// if recordings are never skipped.
    var leastAudio: TimeInterval? { get }
    /// Whether the server refuses to start a recording without room for its audio.
    var needsRoomAtStart: Bool { get }

    /// Whether only the family's own API ends a recording: the operator API refuses to commit it.
    var endsByOwnAPIOnly: Bool { get }
    /// Whether only the family's own API removes a recording, because the recording is part of something larger.
    var isRemovedByOwnAPIOnly: Bool { get }

    /// Visit that a recording belongs to, stored in a searchable column; nil for none.
    func visit(of request: TransactionRequest) -> String?

    /// Upload type: how the client sends the audio.
    func uploadType(of request: TransactionRequest) -> UploadType

    /// Templates that clients can name by id but that no list offers.
    var hiddenTemplates: [Template] { get }

    /// Outcome of processing.
    /// - Parameter documents: All results, which are final.
    func outcome(of documents: [ResultDocument]) -> Transaction.ProcessingStatus

    /// Template that the recording defines itself; nil if the template is in the catalogue or the business's own.
    func template(_ id: TemplateID, of request: TransactionRequest) -> Template?
}

extension RecordingPolicy {
    package var lifetime: RecordingLifetime? { nil }
    package var leastAudio: TimeInterval? { nil }
    package var needsRoomAtStart: Bool { false }
    package var endsByOwnAPIOnly: Bool { false }
    package var isRemovedByOwnAPIOnly: Bool { false }
    package func visit(of request: TransactionRequest) -> String? { nil }
    package func uploadType(of request: TransactionRequest) -> UploadType { .chunked }
    package var hiddenTemplates: [Template] { [] }
    package func template(_ id: TemplateID, of request: TransactionRequest) -> Template? { nil }

    /// Classifies a failure: a system failure if another commit may succeed, a request failure if the audio is at
    /// fault.
    package func outcome(of documents: [ResultDocument]) -> Transaction.ProcessingStatus {
        guard documents.outcome == .failure else { return .success }
        return documents.contains { $0.errors.contains(where: \.isRetryable) } ? .systemFailure : .requestFailure
    }
}

/// Recording policies of all families. A kind without a policy behaves like a plain transaction.
package struct RecordingPolicies: Sendable {
    private struct Usual: RecordingPolicy {
        let kind = RecordingKind.transaction
        let title = "Transaction"
    }

    private let policies: [RecordingKind: any RecordingPolicy]

    /// Creates the set of policies.
    /// - Parameter policies: one per kind.
    package init(_ policies: [any RecordingPolicy] = []) {
        self.policies = Dictionary(uniqueKeysWithValues: policies.map { ($0.kind, $0) })
    }

    package var hiddenTemplates: [Template] { policies.values.flatMap(\.hiddenTemplates) }

    /// Names of the kinds for people.
    package var titles: [RecordingKind: String] { policies.mapValues(\.title) }

    package subscript(kind: RecordingKind) -> any RecordingPolicy { policies[kind] ?? Usual() }
}
