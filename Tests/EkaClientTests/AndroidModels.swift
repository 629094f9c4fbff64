import Basics
import Foundation
import ScribeDomain
import ServerTestSupport

/// The answers as the Android SDK types them: Gson takes anything for absent, but no object for an array or a string.
/// `Int32` is Kotlin's `Int`.
enum Android {
    struct Acknowledgement: Decodable {
        let status: String?
        let message: String?
        let txnId: String?
        let bId: String?
        /// A string here, an object on iOS: what succeeds must carry none.
        let error: String?
    }

    struct Refusal: Decodable {
        struct Problem: Decodable {
            let code: String?
            let message: String?
            let displayMessage: String?
        }

        let error: Problem?
        let message: String?
    }

    struct Result: Decodable {
        struct Payload: Decodable {
            let output: [Item]?
            let templateResults: TemplateResults?
            let audioMatrix: AudioMatrix?
            let additionalData: [String: JSONValue]?
            let createdAt: String?
        }

        struct TemplateResults: Decodable {
            let custom: [Item]?
            let integration: [Item]?
            let transcript: [Item]?
        }

        struct AudioMatrix: Decodable {
            let quality: Double?
        }

        struct Item: Decodable {
            let templateId: String?
            let documentId: String?
            let documentType: String?
            let name: String?
            let type: String?
            let status: String?
            let value: String?
            let lang: String?
            let errors: [Diagnostic]?
            let warnings: [Diagnostic]?

            /// A word that the SDK does not know is none.
            var knownStatus: String? {
                status.flatMap { ["success", "partial_success", "failure", "in-progress"].contains($0) ? $0 : nil }
            }
        }

        struct Diagnostic: Decodable {
            let type: String?
            let code: String?
            let msg: String?
        }

        let data: Payload?
    }

    /// What the app is handed of a result.
    struct Note: Equatable {
        struct Section: Decodable, Equatable {
            let title: String
            let value: String
        }

        let documentID: String
        let title: String?
        let sections: [Section]
        let isEditable: Bool
    }

    struct Credentials: Decodable {
        struct Keys: Decodable {
            let accessKeyID: String
            let secretKey: String
            let sessionToken: String
            let expiration: String?

            enum CodingKeys: String, CodingKey {
                case accessKeyID = "AccessKeyId"
                case secretKey = "SecretKey"
                case sessionToken = "SessionToken"
                case expiration = "Expiration"
            }
        }

        let credentials: Keys
        let expiry: Int32?
    }

    struct Templates: Decodable {
        struct Template: Decodable {
            let id: String?
            let title: String?
            let desc: String?
            let sectionIds: [String]?
            let `default`: Bool?
            let isFavorite: Bool?
        }

        let items: [Template]?

        /// Items without an id are dropped.
        var shown: [Template] { items?.filter { $0.id != nil } ?? [] }
    }

    struct Config: Decodable {
        struct Payload: Decodable {
            let supportedLanguages: [Choice]?
            let supportedOutputFormats: [Choice]?
            let consultationModes: [Choice]?
            let maxSelection: Limits?
            let myTemplates: [Choice]?
            let selectedPreferences: Preferences?
            let userDetails: [String: JSONValue]?
        }

        struct Choice: Decodable {
            let id: String?
            let name: String?
            let desc: String?
        }

        struct Limits: Decodable {
            let supportedLanguages: Int32?
            let supportedOutputFormats: Int32?
            let consultationModes: Int32?
        }

        struct Preferences: Decodable {
            let autoDownload: Bool?
            let languages: [Choice]?
            let outputFormats: [Choice]?
            let modelType: String?
            let consultationMode: String?
        }

        let data: Payload?
    }

    struct ConfigUpdate: Decodable {
        struct Result: Decodable {
            let action: String?
            let bId: String?
            let userUuid: String?
        }

        let message: String?
        let result: Result?
    }

    struct History: Decodable {
        struct Row: Decodable {
            struct Patient: Decodable {
                let oid: String?
                let age: Int32?
                let biologicalSex: String?
                let username: String?
            }

            let txnId: String?
            let bId: String?
            let createdAt: String?
            let flavour: String?
            let mode: String?
            let userStatus: String?
            let processingStatus: String?
            let patientDetails: Patient?
        }

        let data: [Row]?
    }

    struct Conversion: Decodable {
        let status: String?
        let message: String?
        let txnId: String?
        let templateId: String?
        let bId: String?
        let documentId: String?
    }
}

extension Android.Result {
    /// The statuses that decide, of all three buckets; `output` is not looked at.
    var statuses: [String] {
        let buckets = data?.templateResults
        return [buckets?.integration, buckets?.transcript, buckets?.custom].compactMap { $0 }.joined()
            .compactMap(\.knownStatus)
    }

    /// The notes that are shown: with both ids, custom ones only of two types.
    var notes: [Android.Note] {
        let integration = data?.templateResults?.integration ?? []
        let custom = (data?.templateResults?.custom ?? []).filter {
            ["custom", "document"].contains($0.documentType)
        }
        return integration.compactMap { note(of: $0, isEditable: false) }
            + custom.compactMap { note(of: $0, isEditable: true) }
    }

    /// The transcripts that are shown.
    var transcripts: [String] {
        (data?.templateResults?.transcript ?? []).filter { $0.documentId != nil }.compactMap { $0.value?.base64Text }
    }

    private func note(of item: Item, isEditable: Bool) -> Android.Note? {
        guard item.templateId != nil, let documentID = item.documentId else { return nil }
        let text = item.value?.base64Text ?? ""
        let sections =
            item.type == "json"
            ? (try? JSONDecoder().decode([Android.Note.Section].self, from: Data(text.utf8))) ?? []
            : [Android.Note.Section(title: item.name ?? "", value: text)]
        return Android.Note(documentID: documentID, title: item.name, sections: sections, isEditable: isEditable)
    }
}
