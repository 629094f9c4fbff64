import Basics
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Decodes the body that creates an ambient session (suki.md 3.1, addendum 3).
///
/// Older SDKs send patient and sections here. The patient's name is not read.
struct CreateBody: Decodable {
    private var sentID: JSONValue?
    private var encounter: String?
    private var isMultilingual: Bool?
    private var context: [String: JSONValue] = [:]

    private enum CodingKeys: String, CodingKey {
        case multilingual, patient, sections, provider, visit, diagnoses
        case id = "ambient_session_id"
        case encounter = "encounter_id"
        case group = "session_group_id"
    }

    /// The id as the client sent it.
    var id: String? { sentID?.stringValue }

    init() {}

    init(from decoder: any Decoder) throws {
        let body = try decoder.container(keyedBy: CodingKeys.self)
        sentID = try body.decodeIfPresent(JSONValue.self, forKey: .id)
        let group = try body.decodeIfPresent(String.self, forKey: .group)
        encounter = try body.decodeIfPresent(String.self, forKey: .encounter) ?? group
        isMultilingual = try body.decodeIfPresent(Bool.self, forKey: .multilingual)
        for key in [CodingKeys.patient, .sections, .provider, .visit, .diagnoses] {
            context[key.rawValue] = try body.decodeIfPresent(JSONValue.self, forKey: key)
        }
    }

    /// The settings of the new ambient session.
    /// - Throws: ``SukiError``, ``ScribeError/invalidRequest(field:problem:)``.
    func draft(at now: Date) throws -> AmbientSessions.Draft {
        var draft = AmbientSessions.Draft()
        if sentID != nil {
            guard let known = id.flatMap(AmbientID.init) else { throw SukiError.invalidAmbientID }
            draft.id = known.transaction
        }
        if let encounter {
            guard TransactionID.isValid(encounter) else {
                throw ScribeError.invalidRequest(
                    field: "encounter_id", problem: "must have 1 to 255 characters, none of them a control character")
            }
            draft.encounter = encounter
        }
        // false means English only; true means any language, the default.
        if isMultilingual == false { draft.languages = ["en"] }
        if !context.isEmpty {
            draft.context = .empty.merged(with: try AmbientContext.checked(.object(context), today: now))
            try Limits.require(draft.context.json, within: Limits.context, "the context")
        }
        return draft
    }
}
