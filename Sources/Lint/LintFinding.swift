import Eka
import Journal
package import ScribeDomain

/// Mistake that a rule has found.
package struct LintFinding: Hashable, Sendable {
    package let rule: LintRule
    package let severity: LintSeverity
    /// A sentence without a full stop. It has names of files and numbers, and nothing that was said.
    package let message: String
    /// Recording that it is about; nil for none.
    package let recording: Transaction.Key?
    /// Profile of the client's SDK; nil for another client.
    package let sdk: String?
    /// Numbers of the requests in the journal.
    package let requests: [Int]
}

extension String {
    /// The text without characters that change how a terminal shows others. Names of files come from clients.
    fileprivate var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                        "?"
                    default: scalar
                    }
                }))
    }
}

/// Result of a check, before the recording and the SDK are known.
struct Found: Sendable {
    let rule: LintRule
    let message: String
    let exchanges: [LintedExchange]
    /// A lower severity than the rule's.
    var severity: LintSeverity?

    init(
        _ rule: LintRule, _ message: String, _ exchanges: [LintedExchange] = [], severity: LintSeverity? = nil
    ) {
        self.rule = rule
        self.message = message
        self.exchanges = exchanges
        self.severity = severity
    }

    /// Result with the exchanges that a rule is about; empty without any.
    static func ifAny(
        _ rule: LintRule, _ message: @autoclosure () -> String, _ exchanges: [LintedExchange]
    ) -> [Found] {
        exchanges.isEmpty ? [] : [Found(rule, message(), exchanges)]
    }

    /// The finding, a note if the SDK is shipped with it.
    func finding(in recording: LintedRecording?) -> LintFinding {
        let sdk = (recording?.sdk ?? exchanges.lazy.compactMap(\.sdk).first)?.name
        let isShipped = sdk.map(rule.shippedBy.contains) ?? false
        return LintFinding(
            rule: rule, severity: isShipped ? .note : severity ?? rule.severity,
            message: SecretMask.text(message).printable,
            recording: recording?.transaction.key, sdk: sdk,
            requests: exchanges.map(\.number))
    }
}
