import Basics
import ScribeHTTP

/// One option of the configuration: an id, and a name to display.
struct Choice: Hashable, Sendable {
    let id: String
    let name: String
    var desc: String?

    var json: JSON { ["id": .string(id), "name": .string(name), "desc": desc.map(JSON.string)] }
}

extension [Choice] {
    var json: JSON { .array(self) { $0.json } }
}

/// Options that the configuration offers to every user (eka.md 6.1, 6.2).
enum ConfigChoices {
    static let modes = [
        Choice(
            id: "consultation", name: "Consultation", desc: "A conversation between clinician and patient"),
        Choice(id: "dictation", name: "Dictation", desc: "The clinician dictates"),
    ]
    static let models = [
        Choice(id: "pro", name: "Pro", desc: "Most accurate"),
        Choice(id: "lite", name: "Lite", desc: "Faster"),
    ]
    static let languages = [
        ("en-IN", "English (India)"), ("en-US", "English (United States)"), ("hi", "Hindi"), ("gu", "Gujarati"),
        ("kn", "Kannada"), ("ml", "Malayalam"), ("ta", "Tamil"), ("te", "Telugu"), ("bn", "Bengali"),
        ("mr", "Marathi"), ("pa", "Punjabi"), ("or", "Odia"), ("as", "Assamese"), ("en", "English"),
    ].map { Choice(id: $0, name: $1) }

    static let largestLanguages = 2
    static let largestFormats = 2
    static let largestModes = 1
    static let largestModels = 1
}

/// Keys of the preferences that the server reads; clients store other keys beside them.
enum PreferenceKey: String, CaseIterable {
    case myTemplates = "my_templates"
    case languages = "input_languages"
    case formats = "output_format_template"
    case mode = "consultation_mode"
    case model = "model_type"
    case downloadsAutomatically = "auto_download"
    case detectLanguage = "auto_detect_language"
}

extension JSONValue {
    subscript(key: PreferenceKey) -> JSONValue? { self[key.rawValue] }
}

/// A user's preferences, with defaults for unset ones.
struct ChosenPreferences {
    let mode: Choice
    let model: Choice
    let languages: [Choice]
    let formats: [Choice]
    let downloadsAutomatically: Bool
    let detectLanguage: Bool

    /// - Parameter stored: The preferences as stored by `PUT config`.
    init(_ stored: JSONValue, formats known: [Choice]) {
        func choice(_ key: PreferenceKey, of choices: [Choice]) -> Choice {
            let id = stored[key]?.stringValue
            return choices.first { $0.id == id } ?? id.map { Choice(id: $0, name: $0) } ?? choices[0]
        }
        func choices(_ key: PreferenceKey, of choices: [Choice]) -> [Choice] {
            guard case .array(let items)? = stored[key] else { return [choices[0]] }
            return items.compactMap { item in
                guard let id = item["id"]?.stringValue ?? item.stringValue else { return nil }
                return Choice(
                    id: id, name: item["name"]?.stringValue ?? choices.first { $0.id == id }?.name ?? id)
            }
        }
        func flag(_ key: PreferenceKey) -> Bool { stored[key] == .bool(true) }
        mode = choice(.mode, of: ConfigChoices.modes)
        model = choice(.model, of: ConfigChoices.models)
        languages = choices(.languages, of: ConfigChoices.languages)
        formats = choices(.formats, of: known)
        downloadsAutomatically = flag(.downloadsAutomatically)
        detectLanguage = flag(.detectLanguage)
    }
}
