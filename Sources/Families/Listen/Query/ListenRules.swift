import Basics
import Journal
import ScribeDomain

/// Part of a query that has no effect, as an answer to a recording tells it: `metadata.warnings`.
struct ListenWarning: Hashable, Sendable {
    /// Kinds of warnings; the first two are the vendor's.
    enum Kind: String, Sendable {
        case unsupportedLanguage = "unsupported_language"
        case unsupportedModel = "unsupported_model"
        case unsupportedParameter = "unsupported_parameter"
    }

    let parameter: String
    let kind: Kind
    /// A sentence without its subject.
    let problem: String

    init(_ parameter: ListenParameter, _ problem: String) { self.init(parameter, .unsupportedParameter, problem) }

    init(_ parameter: ListenParameter, _ kind: Kind, _ problem: String) {
        self.parameter = parameter.name
        self.kind = kind
        self.problem = problem
    }

    var json: JSON {
        [
            "parameter": .string(parameter), "type": .string(kind.rawValue),
            "message": .string("\(parameter) \(problem)."),
        ]
    }

    var ignored: Remark { Remark(parameter, problem) }
}

/// Rules of Deepgram's cloud on the values of a query.
struct ListenRules: Sendable {
    let values: ListenValues
    let model: String?
    let isStream: Bool

    /// A refusal of the cloud, and the warning in its place for SubQ's clients.
    struct Refusal: Sendable {
        let error: ListenError
        let warning: ListenWarning
    }

    /// Most tokens in all key terms together. Words are counted: a word has one token or more.
    static let maxTokens = 500
    /// Ports to which the vendor sends callbacks.
    private static let callbackPorts: Set = [80, 443, 8080, 8443]

    static func tokens(in keyterms: [some StringProtocol]) -> Int {
        keyterms.total { $0.split { $0.isWhitespace }.count }
    }

    private func invalid(_ parameter: ListenParameter, _ message: String) -> Refusal {
        Refusal(
            error: .invalidParameter(message),
            warning: ListenWarning(parameter, "would be refused by Deepgram: \(message)"))
    }

    /// Refusals of the cloud, the first rule first.
    /// - Parameters:
    ///   - gap: The value of `utterance_end_ms`.
    ///   - models: Further names of models.
    func refusals(
        gap: Int?, allowing gaps: ClosedRange<Int>, language: String?, models: Set<String>
    ) -> [Refusal] {
        var refusals: [Refusal] = []
        if let model {
            if model.hasPrefix("flux-") {
                refusals.append(
                    Refusal(
                        error: .modelOfOtherEndpoint,
                        warning: ListenWarning(.model, .unsupportedModel, "is of /v2/listen")))
            } else if !ListenModelTable.has(model), !models.contains(model) {
                refusals.append(
                    Refusal(
                        error: .modelNotPermitted,
                        warning: ListenWarning(.model, .unsupportedModel, "is none of Deepgram's models")))
            }
        }
        if let language, ListenModelTable.verdict(on: language, of: model) == .refused, language.lowercased() != "auto"
        {
            refusals.append(
                Refusal(
                    error: .noSuchCombination,
                    warning: ListenWarning(.language, .unsupportedLanguage, "is not offered by Deepgram's model")))
        }
        if let gap, !gaps.contains(gap) {
            refusals.append(invalid(.utteranceEnd, "Invalid 'utterance_end_ms' value of '\(gap)'."))
        }
        if ListenModelTable.isNova3(model), values.text(.keywords) != nil {
            refusals.append(
                invalid(.keywords, "Keywords are not supported for Nova-3. Please use `keyterm` instead."))
        }
        if Self.tokens(in: values.list(.keyterm)) > Self.maxTokens {
            refusals.append(
                invalid(
                    .keyterm,
                    "Keyterm limit exceeded. The maximum number of tokens across all keyterms is \(Self.maxTokens)."))
        }
        if isStream, values.text(.diarizeModel) == "v2" {
            refusals.append(invalid(.diarizeModel, "Invalid 'diarize_model' value of 'v2'."))
        }
        return refusals
    }

    /// Parameters that are taken, and have no effect or might have none at the vendor.
    func warnings(language: String?) -> [ListenWarning] {
        var warnings = ListenParameter.others.compactMap { parameter in
            values.list(parameter).contains(where: parameter.asks)
                ? parameter.problem.map { ListenWarning(parameter, $0) } : nil
        }
        if let language, ListenModelTable.verdict(on: language, of: model) == .unknown {
            warnings.append(
                ListenWarning(
                    .language, .unsupportedLanguage,
                    "is not in the model's list of \(ListenModelTable.date); Deepgram may refuse it"))
        }
        if let model, !ListenModelTable.isNova3(model), values.text(.keyterm) != nil {
            warnings.append(
                ListenWarning(.keyterm, .unsupportedModel, "is for Nova-3 and Flux; Deepgram may refuse it"))
        }
        if values.text(.diarize) != nil, values.text(.diarizeModel) != nil {
            warnings.append(
                ListenWarning(.diarizeModel, "is refused together with diarize by Deepgram since June 2026"))
        }
        if isStream, model?.hasPrefix("whisper") ?? false {
            warnings.append(ListenWarning(.model, .unsupportedModel, "is for recordings alone"))
        }
        if isStream, values.text(.callbackMethod) != nil {
            warnings.append(ListenWarning(.callbackMethod, "is for recordings alone"))
        }
        if isStream, values.text(.detectLanguage) != nil {
            warnings.append(ListenWarning(.detectLanguage, "is for recordings alone"))
        }
        if let address = values.text(.callback), let port = Self.port(of: address), !Self.callbackPorts.contains(port) {
            warnings.append(ListenWarning(.callback, "has a port to which Deepgram sends nothing"))
        }
        return warnings
    }

    /// The port that an address names; nil without one.
    private static func port(of address: String) -> Int? {
        let authority = address.drop { $0 != ":" }.dropFirst(3).prefix { !"/?#".contains($0) }
        return authority.split(separator: "@").last?.split(separator: ":").last.flatMap { Int($0) }
    }
}
