import Basics

/// Integer field that the Android SDK declares as Kotlin's `Int`, which has 32 bits.
///
/// Gson refuses a whole answer for an integer out of range, so such a field is left out (C-121). Swift's `Int` has 64
/// bits, and JavaScript has no integer types.
struct DeclaredInteger: Hashable, Sendable {
    /// Answer with such fields, or the part of it that is encoded alone.
    enum Answer: Hashable, Sendable, CaseIterable {
        /// One transaction of the history.
        case historyRow
        case config
        case credentials
    }

    /// Member names from the top of the answer.
    let path: [String]
    /// File, type and property in the Android SDK 4.2.4.
    let declaration: String

    /// Every field that the Android SDK declares as `Int` in an answer; its other numbers are `Double`.
    static func all(in answer: Answer) -> [DeclaredInteger] {
        switch answer {
        case .historyRow: history
        case .config: config
        case .credentials: credentials
        }
    }

    private static let history = [
        Self(path: ["patient_details", "age"], declaration: "HistoryResponse.kt PatientDetailsInfo.age")
    ]
    private static let config = [
        ("supported_languages", "supportedLanguages"), ("supported_output_formats", "supportedOutputFormats"),
        ("consultation_modes", "consultationModes"),
    ].map { name, property in
        Self(path: ["data", "max_selection", name], declaration: "GetConfigResponse.kt MaxSelection.\(property)")
    }
    private static let credentials = [
        Self(path: ["expiry"], declaration: "AwsS3ConfigResponse.kt AwsS3ConfigResponse.expiry")
    ]
}

extension ClientProfile {
    /// Copy of an answer without the integers that the SDK cannot decode.
    func fitted(_ json: JSON, as answer: DeclaredInteger.Answer) -> JSON {
        guard hasNarrowIntegers else { return json }
        return DeclaredInteger.all(in: answer).reduce(json) { $0.withoutWideInteger(at: $1.path[...]) ?? .null }
    }
}

extension JSON {
    /// Copy without the integer at the path if the integer has more than 32 bits; nil if nothing is left.
    fileprivate func withoutWideInteger(at path: ArraySlice<String>) -> JSON? {
        switch self {
        case .integer(let value): path.isEmpty && Int32(exactly: value) == nil ? nil : self
        case .object(let members):
            .object(
                members.compactMap { member in
                    guard member.name == path.first else { return member }
                    return member.value.withoutWideInteger(at: path.dropFirst()).map { (member.name, $0) }
                })
        case .value(let value): value.withoutWideInteger(at: path).map(JSON.value)
        case .null, .bool, .number, .string, .array: self
        }
    }
}

extension JSONValue {
    fileprivate func withoutWideInteger(at path: ArraySlice<String>) -> JSONValue? {
        switch self {
        case .integer(let value): return path.isEmpty && Int32(exactly: value) == nil ? nil : self
        case .object(var members):
            guard let name = path.first else { return self }
            members[name] = members[name]?.withoutWideInteger(at: path.dropFirst())
            return .object(members)
        case .null, .bool, .number, .digits, .string, .array: return self
        }
    }
}
