import Basics
import Foundation
import ScribeDomain
import ServerTestSupport

/// The answers as the iOS SDK types them. Optional is what it can do without.
enum IOS {
    struct Acknowledgement: Decodable {
        struct Problem: Decodable {
            let code: String?
            let message: String?
            let displayMessage: String?
        }

        let status: String?
        let message: String?
        let txnId: String?
        let bId: String?
        /// An object here, a string on Android: what succeeds must carry none.
        let error: Problem?
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
            let name: String?
            let type: String?
            let status: Status?
            let value: String?
            let errors: [Diagnostic]?
            let warnings: [Diagnostic]?
        }

        struct Diagnostic: Decodable {
            let type: String?
            let code: String?
            let msg: String?
        }

        /// Any other word fails the whole answer.
        enum Status: String, Decodable {
            case success, failure
            case inProgress = "in-progress"
            case otherInProgress = "in_progress"
            case partialSuccess = "partial_success"
            case partialCompleted = "partial_completed"

            var isUsable: Bool { self == .success || self == .partialSuccess || self == .partialCompleted }
        }

        let data: Payload?

        /// What the app shows: base64 if it is, the text itself otherwise.
        var texts: [String] { data?.output?.compactMap { item in item.value.map { $0.base64Text ?? $0 } } ?? [] }
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
                case expiration
            }
        }

        let credentials: Keys
        let expiry: Int?
        let identityId: String?
        let token: String?
    }

    struct Templates: Decodable {
        struct Payload: Decodable {
            let templates: [Template]
        }

        struct Template: Decodable {
            let id: String?
            let title: String?
            let desc: String?
            let sectionIds: [String]?
            let `default`: Bool
            let isFavorite: Bool?
        }

        let data: Payload?

        /// Without id and title there is nothing to show.
        var shown: [Template] { data?.templates.filter { $0.id != nil && $0.title != nil } ?? [] }
    }

    struct Config: Decodable {
        struct Payload: Decodable {
            let consultationModes: Choices
            let supportedLanguages: Choices
            let supportedOutputFormats: Choices
            let modelConfigs: Choices
            let selectedPreferences: Preferences?
        }

        struct Choices: Decodable {
            let items: [Choice]
            let maxSelection: Int?
        }

        struct Choice: Decodable {
            let id: String?
            let name: String?
            let desc: String?
        }

        struct Preferences: Decodable {
            let consultationMode: Choice?
            let languages: [Choice]?
            let outputFormats: [Choice]?
            let modelType: Choice?
        }

        let data: Payload?
    }

    struct ConfigUpdate: Decodable {
        let message: String?
    }

    struct History: Decodable {
        struct Row: Decodable {
            struct Patient: Decodable {
                let oid: String?
                let age: Int?
                let biologicalSex: String?
                let username: String?
                let visitId: String?
            }

            let txnId: String?
            let bId: String?
            let uuid: String?
            let oid: String?
            let createdAt: String?
            let flavour: String?
            let version: String?
            let mode: String?
            let userStatus: String?
            let processingStatus: String?
            let patientDetails: Patient?
        }

        let status: String?
        let retrievedCount: Int?
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

/// What the iOS SDK makes of an answer that is not 2xx, or that it cannot use.
enum IOSFailure: Error, Equatable {
    case transactionLimitReached
    case server(String)
    case emptyAnswer

    private struct Body: Decodable {
        let message: String?
        let error: IOS.Acknowledgement.Problem?
    }

    /// A message at the top is looked at first, and the code is then lost.
    init(_ answer: TestAnswer) {
        let body = try? answer.decoded(as: Body.self)
        if let message = body?.message {
            self = .server(message)
        } else if body?.error?.code == "txn_limit_exceeded" {
            self = .transactionLimitReached
        } else {
            self = .server(body?.error?.displayMessage ?? body?.error?.message ?? "HTTP \(answer.status)")
        }
    }
}
