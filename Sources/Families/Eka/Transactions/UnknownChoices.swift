import Logging
import ScribeDomain

/// Says once for each client and value that init has asked for something that the configuration does not offer. It is
/// accepted all the same (eka.md 2.1).
final class UnknownChoices: Sendable {
    private struct Choice: Hashable {
        let client: ClientID
        let kind: String
        let value: String
    }

    /// The most values that are logged in a server's life: clients may make values up.
    private static let most = 1000
    /// The longest value that is logged, in bytes; a language tag is no longer.
    private static let longestName = 35

    private let told = LockedValue<Set<Choice>>([])

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
        for (kind, value) in unknown where isNew(Choice(client: client, kind: kind, value: value)) {
            logger.notice(
                "init asks for what the configuration does not offer",
                metadata: ["field": "\(kind)", "value": "\(Self.isName(value) ? value : "-")"])
        }
    }

    private func isNew(_ choice: Choice) -> Bool {
        told.withLock { told in told.count < Self.most && told.insert(choice).inserted }
    }

    /// Only what can be no word of a patient's is said.
    private static func isName(_ text: String) -> Bool {
        text.utf8.count <= longestName
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
