import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// What a session is started with. Older clients send patient and sections here (suki.md 3.1, addendum 3); the patient's
/// name is not read.
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

    /// As it was sent.
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
        // English only; true means whatever the server can hear, which is the usual.
        if isMultilingual == false { draft.languages = ["en"] }
        if !context.isEmpty {
            draft.context = AmbientContext.empty.merged(with: try .init(.object(context), today: now))
            try Limits.require(draft.context.json, within: Limits.context, "the context")
        }
        return draft
    }
}
