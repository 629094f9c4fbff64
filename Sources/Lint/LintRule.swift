import Eka

/// Weight of a finding.
package enum LintSeverity: Int, Comparable, Sendable {
    /// Worth knowing: harmless, or how a shipped SDK behaves.
    case note
    /// The cloud takes it, and something is lost, doubled or slow.
    case warning
    /// The cloud refuses it, or audio, results or secrets are lost.
    case error

    package var name: String { "\(self)" }

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// Rule about what a client does over several requests. The file of each check declares its rules.
package struct LintRule: Hashable, Sendable {
    package let id: String
    package let severity: LintSeverity
    /// Row of `docs/fidelity.md` such as `C-24`, or section of a protocol page such as `eka.md 4.3`.
    package let row: String
    /// The mistake, as a sentence without a full stop.
    package let title: String
    /// The consequence, as a sentence.
    package let why: String
    /// The remedy, as a sentence.
    package let fix: String
    /// Profiles of the SDKs that are shipped with it. For them a finding is a note.
    package let shippedBy: [String]

    init(
        _ id: String, _ severity: LintSeverity, row: String, _ title: String, why: String, fix: String,
        shippedBy: [ClientProfile] = []
    ) {
        (self.id, self.severity, self.row) = (id, severity, row)
        (self.title, self.why, self.fix) = (title, why, fix)
        self.shippedBy = shippedBy.map(\.name)
    }

    /// The rules in the order of a recording: login, uploads, steps, results, then sockets and webhooks.
    package static let all =
        ContractRules.rules + LoginRules.rules + UploadRules.rules + ChunkRules.rules + LifecycleRules.rules
        + PollRules.rules
        + RetryRules.rules + ResultRules.rules + SocketRules.rules + WebhookRules.rules
}
