import Logging
import ScribeDomain

/// Logs options in Eka's `init` that Eka's config API does not offer. Remembers the last 20 values of each client, to
/// log each only once.
///
/// `init` accepts such values (eka.md 2.1).
final class UnknownOptionLog: Sendable {
    private struct Choice: Hashable {
        let kind: String
        let value: String

        /// Keeps a long value as a hash: clients may send values of any length.
        init(kind: String, value: String) {
            self.kind = kind
            self.value = value.utf8.count <= UnknownOptionLog.longestName ? value : "#\(value.hashValue)"
        }
    }

    /// Most logged choices kept per client. A new one replaces the oldest.
    private static let mostOfClient = 20
    /// Longest value that is logged, in bytes; the longest language tag fits.
    private static let longestName = 35

    /// The logged choices of each client, oldest first.
    private let told = LockedValue<[ClientID: [Choice]]>([:])

    func logUnknown(of request: TransactionRequest, by client: ClientID, _ logger: Logger) {
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

    /// Whether a value is safe to log: an identifier, which cannot be a patient's words.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= longestName && text.utf8.allSatisfy(\.isInIdentifier)
    }
}
