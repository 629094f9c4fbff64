import Foundation
import ScribeDomain
import ServerTestSupport

/// The answers as the older iOS SDK types them. What is not optional fails the answer when it is absent.
enum LegacyIOS {
    struct Acknowledgement: Decodable {
        let status: String
        let message: String
        let txnId: String
        let bId: String
    }

    /// What is handed to the host app when init is refused.
    struct Refusal: Decodable {
        struct Problem: Decodable {
            let code: String
            let message: String
            let displayMessage: String
        }

        let status: String
        let error: Problem
        let txnId: String
        let bId: String
    }

    struct Credentials: Decodable {
        struct Keys: Decodable {
            let accessKeyID: String
            let secretKey: String
            let sessionToken: String
            let expiration: String

            enum CodingKeys: String, CodingKey {
                case accessKeyID = "AccessKeyId"
                case secretKey = "SecretKey"
                case sessionToken = "SessionToken"
                case expiration = "Expiration"
            }
        }

        let credentials: Keys
        let expiry: Int
    }

    struct Result: Decodable {
        struct Payload: Decodable {
            let output: [Item]?
            let templateResults: TemplateResults?
            let audioMatrix: AudioMatrix?
            let additionalData: Context?
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
            let name: String?
            let type: String?
            let status: String?
            let value: String?
            let errors: [Diagnostic]
            let warnings: [Diagnostic]
        }

        struct Diagnostic: Decodable {
            let type: String?
            let code: String?
            let msg: String?
        }

        let data: Payload?

        /// The custom items if there are any, else `output`; nil is "not yet".
        var items: [Item]? {
            if let custom = data?.templateResults?.custom, !custom.isEmpty { return custom }
            return data?.output
        }
    }

    /// What the host app said at init, typed, as it must come back.
    struct Context: Decodable, Equatable {
        struct Doctor: Decodable, Equatable {
            let id: String
            let profile: Profile

            enum CodingKeys: String, CodingKey {
                case profile
                case id = "_id"
            }
        }

        struct Patient: Decodable, Equatable {
            let id: String
            let profile: Profile
        }

        struct Profile: Decodable, Equatable {
            struct Personal: Decodable, Equatable {
                let name: Name
            }

            struct Name: Decodable, Equatable {
                let l: String?
                let f: String?
            }

            let personal: Personal
        }

        let doctor: Doctor?
        let patient: Patient?
        let visitid: String?
    }

    struct Templates: Decodable {
        struct Template: Decodable {
            let id: String
            let title: String
            let `default`: Bool
            let desc: String?
            let sectionIds: [String]?
            let isFavorite: Bool?
        }

        let items: [Template]
    }

    struct TemplateChange: Decodable {
        let msg: String
        let templateId: String
    }

    struct Config: Decodable {
        struct Payload: Decodable {
            let supportedLanguages: [Choice]
            let supportedOutputFormats: [Choice]
            let consultationModes: [Choice]
            let maxSelection: [String: Int]
            let settings: [String: Setting]?
            let myTemplates: [Choice]?
            let selectedPreferences: Preferences?
            let userDetails: User?
        }

        struct Choice: Decodable {
            let id: String
            let name: String
        }

        struct Setting: Decodable {
            let value: Bool
            let editable: Bool
        }

        struct Preferences: Decodable {
            let languages: [Choice]?
            let outputFormats: [Choice]?
            let modelType: String?
            let consultationMode: String?
        }

        struct User: Decodable {
            let uuid: String?
            let fn: String?
            let ln: String?
            let oid: String?
            let businessID: String?
            let workspaceName: String?
            let isPaidDoc: Bool?

            enum CodingKeys: String, CodingKey {
                case uuid, fn, ln, oid, isPaidDoc
                case businessID = "b-id"
                case workspaceName = "w-n"
            }
        }

        let data: Payload
    }

    struct Conversion: Decodable {
        let status: String
        let message: String
        let templateId: String
        let txnId: String
        let bId: String
    }

    struct History: Decodable {
        enum Status: String, Decodable {
            case success, cancelled
            case inProgress = "in-progress"
            case systemFailure = "system_failure"
        }

        struct Row: Decodable {
            struct Patient: Decodable {
                let oid: String?
                let age: Int?
                let biologicalSex: String?
                let username: String?
            }

            let txnId: String?
            let bId: String?
            let uuid: String?
            let oid: String?
            let createdAt: String?
            let flavour: String?
            let mode: String?
            let version: String?
            let userStatus: String?
            let processingStatus: String?
            let patientDetails: Patient?
        }

        let status: Status
        let data: [Row]
    }
}
