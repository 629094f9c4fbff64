import Logging
import ScribeDomain

/// Logs once for each client and value that init asks for something the configuration does not offer. Init accepts it
/// (eka.md 2.1).
final class UnknownChoices: Sendable {
    private struct Choice: Hashable {
        let kind: String
        let value: String

        /// A long value is kept as a hash: clients may make up values of any length.
        init(kind: String, value: String) {
            self.kind = kind
            self.value = value.utf8.count <= UnknownChoices.longestName ? value : "#\(value.hashValue)"
        }
    }

    /// The most logged choices that are kept of one client. The oldest gives way to a new one.
    private static let mostOfClient = 20
    /// The longest value that is logged, in bytes; a language tag is no longer.
    private static let longestName = 35

    /// The logged choices of each client, the oldest first.
    private let told = LockedValue<[ClientID: [Choice]]>([:])

    func tell(of request: TransactionRequest, by client: ClientID, _ logger: Logger) {
        var unknown: [(kind: String, value: String)] = []
        func look(_ kind: String, _ value: String?, _ known: [String]) {
            if let value, !value.isEmpty, !known.contains(value) { unknown.append((kind, value)) }
        }
        look("mode", request.mode, ConfigChoices.modes.map(\.id))
        look("model_type", request.modelType, ConfigChoices.models.map(\.id))
        for language in request.inputLanguages { look("input_language", language, ConfigChoices.languages.map(\.id)) }
        look("output_language", request.outputLanguage, ConfigChoices.languages.map(\.id))
        if request.inputLanguages.count > ConfigChoices.largestLanguages {
            unknown.append(("input_language", "\(request.inputLanguages.count)_languages"))
        }
        for (kind, value) in unknown where isNew(Choice(kind: kind, value: value), of: client) {
            logger.notice(
                "init asks for what the configuration does not offer",
                metadata: ["field": "\(kind)", "value": "\(Self.isName(value) ? value : "-")"])
        }
    }

    private func isNew(_ choice: Choice, of client: ClientID) -> Bool {
        told.withLock { told in
            var known = told[client] ?? []
            guard !known.contains(choice) else { return false }
            known.append(choice)
            told[client] = Array(known.suffix(Self.mostOfClient))
            return true
        }
    }

    /// Only what can be no word of a patient's is said.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= longestName && text.utf8.allSatisfy(\.isInIdentifier)
    }
}
