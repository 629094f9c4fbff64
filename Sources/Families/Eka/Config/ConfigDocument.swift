import Basics
import ScribeDomain

/// Encodes a user's configuration in the two shapes that SDKs read.
struct ConfigDocument {
    let chosen: ChosenPreferences
    let formats: [Choice]
    let myTemplates: [Choice]
    let principal: Principal
    let client: Client?
    /// Members that clients stored and the server does not read.
    let extras: [String: JSONValue]

    /// The configuration as most SDKs decode it: plain lists, and choices by their ids (C-91).
    var flat: JSON {
        let own: [JSON.Member] = [
            ("supported_languages", ConfigChoices.languages.json),
            ("supported_output_formats", formats.json),
            ("consultation_modes", ConfigChoices.modes.json),
            (
                "max_selection",
                [
                    "supported_languages": .integer(ConfigChoices.largestLanguages),
                    "supported_output_formats": .integer(ConfigChoices.largestFormats),
                    "consultation_modes": .integer(ConfigChoices.largestModes),
                ]
            ),
            ("settings", ["model_training_consent": ["value": true, "editable": false]]),
            ("my_templates", myTemplates.json),
            (
                "selected_preferences",
                [
                    "auto_download": .bool(chosen.downloadsAutomatically),
                    "auto_detect_language": .bool(chosen.detectLanguage), "languages": chosen.languages.json,
                    "output_formats": chosen.formats.json, "model_type": .string(chosen.model.id),
                    "consultation_mode": .string(chosen.mode.id),
                ]
            ),
            ("user_details", user),
        ]
        // The web SDK expects these two lists on a fresh server.
        var more = extras.merging(["supported_integrations": .array([]), "integrations": .array([])]) { old, _ in old }
        // The server's own members win over stored ones with the same name.
        for member in own { more[member.name] = nil }
        return .object(own + more.sorted { $0.key < $1.key }.map { (name: $0.key, value: .value($0.value)) })
    }

    /// The configuration as the iOS SDK decodes it: each list with its own limit, and choices as objects (C-90).
    var nested: JSON {
        func offer(_ items: [Choice], limit: Int) -> JSON { ["items": items.json, "max_selection": .integer(limit)] }
        return [
            "consultation_modes": offer(ConfigChoices.modes, limit: ConfigChoices.largestModes),
            "supported_languages": offer(ConfigChoices.languages, limit: ConfigChoices.largestLanguages),
            "supported_output_formats": offer(formats, limit: ConfigChoices.largestFormats),
            "model_configs": offer(ConfigChoices.models, limit: ConfigChoices.largestModels),
            "selected_preferences": [
                "consultation_mode": chosen.mode.json, "languages": chosen.languages.json,
                "output_formats": chosen.formats.json, "model_type": chosen.model.json,
            ],
            "my_templates": myTemplates.json,
            "user_details": user,
        ]
    }

    private var user: JSON {
        [
            "uuid": .string(principal.user.rawValue), "fn": .string(client?.name ?? ""), "mn": .null, "ln": .null,
            "dob": .null, "gen": .null, "s": .null, "w-id": .string(principal.business.rawValue),
            "w-n": .string(client?.workspace ?? ""), "b-id": .string(principal.business.rawValue),
            "oid": .string(principal.doctor.rawValue), "is_paid_doc": true, "is_eka_doc": false,
        ]
    }
}
