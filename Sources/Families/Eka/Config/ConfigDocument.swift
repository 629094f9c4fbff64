import ScribeDomain
import ScribeHTTP

/// The configuration as most clients decode it: plain lists, and choices by their ids (C-91).
struct FlatConfig: Encodable {
    struct Selected: Encodable {
        let chosen: ChosenPreferences

        private enum CodingKeys: String, CodingKey {
            case languages
            case autoDownload = "auto_download"
            case autoDetectLanguage = "auto_detect_language"
            case outputFormats = "output_formats"
            case modelType = "model_type"
            case consultationMode = "consultation_mode"
        }

        func encode(to encoder: any Encoder) throws {
            var selected = encoder.container(keyedBy: CodingKeys.self)
            try selected.encode(chosen.downloadsAutomatically, forKey: .autoDownload)
            try selected.encode(chosen.detectsLanguage, forKey: .autoDetectLanguage)
            try selected.encode(chosen.languages, forKey: .languages)
            try selected.encode(chosen.formats, forKey: .outputFormats)
            try selected.encode(chosen.model.id, forKey: .modelType)
            try selected.encode(chosen.mode.id, forKey: .consultationMode)
        }
    }

    struct Limits: Encodable {
        let languages = ConfigChoices.largestLanguages
        let formats = ConfigChoices.largestFormats
        let modes = ConfigChoices.largestModes

        enum CodingKeys: String, CodingKey {
            case languages = "supported_languages"
            case formats = "supported_output_formats"
            case modes = "consultation_modes"
        }
    }

    struct Consent: Encodable {
        let value = true
        let editable = false
    }

    struct UserDetails: Encodable {
        let principal: Principal
        let client: Client?

        private enum CodingKeys: String, CodingKey {
            case uuid, fn, mn, ln, dob, gen, s, oid
            case workspaceID = "w-id"
            case workspace = "w-n"
            case business = "b-id"
            case isPaidDoctor = "is_paid_doc"
            case isEkaDoctor = "is_eka_doc"
        }

        func encode(to encoder: any Encoder) throws {
            var details = encoder.container(keyedBy: CodingKeys.self)
            try details.encode(principal.user, forKey: .uuid)
            try details.encode(client?.name ?? "", forKey: .fn)
            for key in [CodingKeys.mn, .ln, .dob, .gen, .s] { try details.encodeNil(forKey: key) }
            try details.encode(principal.business, forKey: .workspaceID)
            try details.encode(client?.workspace ?? "", forKey: .workspace)
            try details.encode(principal.business, forKey: .business)
            try details.encode(principal.doctor, forKey: .oid)
            try details.encode(true, forKey: .isPaidDoctor)
            try details.encode(false, forKey: .isEkaDoctor)
        }
    }

    let chosen: ChosenPreferences
    let formats: [Choice]
    let myTemplates: [Choice]
    let user: UserDetails
    /// What clients have stored and the server does not use.
    let extras: [String: JSONValue]

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var config = encoder.container(keyedBy: Key.self)
        // The web client expects these two lists on a fresh server.
        for name in ["supported_integrations", "integrations"] where extras[name] == nil {
            try config.encode([Choice](), forKey: Key(name))
        }
        for (name, value) in extras { try config.encode(value, forKey: Key(name)) }
        try config.encode(ConfigChoices.languages, forKey: Key("supported_languages"))
        try config.encode(formats, forKey: Key("supported_output_formats"))
        try config.encode(ConfigChoices.modes, forKey: Key("consultation_modes"))
        try config.encode(Limits(), forKey: Key("max_selection"))
        try config.encode(["model_training_consent": Consent()], forKey: Key("settings"))
        try config.encode(myTemplates, forKey: Key("my_templates"))
        try config.encode(Selected(chosen: chosen), forKey: Key("selected_preferences"))
        try config.encode(user, forKey: Key("user_details"))
    }
}

/// The configuration as the iOS SDK decodes it: each list with its own limit, and choices as objects (C-90).
struct NestedConfig: Encodable {
    struct Offer: Encodable {
        let items: [Choice]
        let limit: Int

        enum CodingKeys: String, CodingKey {
            case items
            case limit = "max_selection"
        }
    }

    struct Selected: Encodable {
        let mode: Choice
        let languages: [Choice]
        let formats: [Choice]
        let model: Choice

        enum CodingKeys: String, CodingKey {
            case languages
            case mode = "consultation_mode"
            case formats = "output_formats"
            case model = "model_type"
        }
    }

    let modes = Offer(items: ConfigChoices.modes, limit: ConfigChoices.largestModes)
    let languages = Offer(items: ConfigChoices.languages, limit: ConfigChoices.largestLanguages)
    let formats: Offer
    let models = Offer(items: ConfigChoices.models, limit: ConfigChoices.largestModels)
    let selected: Selected
    let myTemplates: [Choice]
    let user: FlatConfig.UserDetails

    enum CodingKeys: String, CodingKey {
        case modes = "consultation_modes"
        case languages = "supported_languages"
        case formats = "supported_output_formats"
        case models = "model_configs"
        case selected = "selected_preferences"
        case myTemplates = "my_templates"
        case user = "user_details"
    }

    init(_ flat: FlatConfig) {
        formats = Offer(items: flat.formats, limit: ConfigChoices.largestFormats)
        selected = Selected(
            mode: flat.chosen.mode, languages: flat.chosen.languages, formats: flat.chosen.formats,
            model: flat.chosen.model)
        myTemplates = flat.myTemplates
        user = flat.user
    }
}
