import ScribeDomain

/// What a delivery says beside its event. Its keys are for ever.
struct StoredEventDetail: Codable {
    private let encounter: String
    private let sessions: [String]
    private let isSkipped: Bool

    enum CodingKeys: String, CodingKey {
        case encounter = "encounter"
        case sessions = "sessions"
        case isSkipped = "isSkipped"
    }

    init(_ detail: EventDetail) {
        encounter = detail.encounter
        sessions = detail.sessions
        isSkipped = detail.isSkipped
    }

    static func value(_ text: String?) throws -> EventDetail? {
        guard let text else { return nil }
        let stored = try StoredJSON.value(text, as: StoredEventDetail.self)
        return EventDetail(encounter: stored.encounter, sessions: stored.sessions, isSkipped: stored.isSkipped)
    }
}
