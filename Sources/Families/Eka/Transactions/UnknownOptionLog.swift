import Basics
import Hummingbird
import Logging
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Logs options of requests that Eka's config API does not offer, and templates that do not exist.
///
/// The API accepts such values (eka.md 2.1, 10.15). Remembers the last 20 values of each client, to log each only once.
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
    private static let maxOfClient = 20
    /// Longest value that is logged, in bytes; a UUID and the longest language tag fit.
    private static let longestName = 36

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

    /// Logs a template that does not exist, and tells the journal of it.
    func logUnknown(_ template: UnknownTemplate, by client: ClientID, _ context: ScribeContext) {
        // Not the id that was sent: it may be anybody's words.
        context.note(oddity: "There is no such template; the nearest is \(template.nearest)")
        guard isNew(Choice(kind: "template_id", value: template.id.rawValue), of: client) else { return }
        context.logger.notice(
            "a requested template does not exist",
            metadata: ["field": "template_id", "nearest": "\(template.nearest)"])
    }

    private func isNew(_ choice: Choice, of client: ClientID) -> Bool {
        told.withLock { told in
            var known = told[client] ?? []
            guard !known.contains(choice) else { return false }
            known.append(choice)
            told[client] = Array(known.suffix(Self.maxOfClient))
            return true
        }
    }

    /// Whether a value is safe to log: an identifier, which cannot be a patient's words.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= longestName && text.utf8.allSatisfy(\.isInIdentifier)
    }
}
