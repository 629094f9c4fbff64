package import Foundation

/// What shared code must know of a kind of recording. The family that starts such recordings contributes it, and nobody
/// else reads their ``TransactionRequest/terms``.
package protocol RecordingPolicy: Sendable {
    var kind: RecordingKind { get }
    /// How long after its beginning a recording may be ended, in seconds; nil for as long as one likes.
    var lifetime: TimeInterval? { get }
    /// Whether a recording is refused at its start when there is no room for its audio.
    var needsRoomAtStart: Bool { get }

    /// The visit of which the recording is a part, as its column is searched for; nil for none.
    func visit(of request: TransactionRequest) -> String?

    /// How the client sends the audio.
    func uploadType(of request: TransactionRequest) -> UploadType

    /// Templates that are known by their ids and offered to nobody.
    var hiddenTemplates: [Template] { get }

    /// The template that the recording chooses itself; nil where the catalogue or the business has it.
    func template(_ id: TemplateID, of request: TransactionRequest) -> Template?
}

extension RecordingPolicy {
    package var lifetime: TimeInterval? { nil }
    package var needsRoomAtStart: Bool { false }
    package func visit(of request: TransactionRequest) -> String? { nil }
    package func uploadType(of request: TransactionRequest) -> UploadType { .chunked }
    package var hiddenTemplates: [Template] { [] }
    package func template(_ id: TemplateID, of request: TransactionRequest) -> Template? { nil }
}

/// The policies of all families. A kind without one is a transaction like any other.
package struct RecordingPolicies: Sendable {
    private struct Usual: RecordingPolicy {
        let kind = RecordingKind.transaction
    }

    private let policies: [RecordingKind: any RecordingPolicy]

    /// - Parameter policies: each of a kind of its own.
    package init(_ policies: [any RecordingPolicy] = []) {
        self.policies = Dictionary(uniqueKeysWithValues: policies.map { ($0.kind, $0) })
    }

    package var hiddenTemplates: [Template] { policies.values.flatMap(\.hiddenTemplates) }

    package subscript(kind: RecordingKind) -> any RecordingPolicy { policies[kind] ?? Usual() }

    /// The shortest lifetime of any kind, in seconds; nil where all may be ended at any time.
    package var shortestLifetime: TimeInterval? { policies.values.compactMap(\.lifetime).min() }
}
