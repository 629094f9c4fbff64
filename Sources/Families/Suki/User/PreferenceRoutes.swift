import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `PATCH /api/v1/user/preferences`: sets verbosity and style of a clinician's notes (suki.md 3.14).
struct PreferenceRoutes: Sendable {
    let runtime: Runtime

    private static let verbosities = ["CONCISE", "BALANCED", "DETAILED"]
    private static let styles = ["NARRATIVE", "BULLETED"]
    private static let largest = 64 << 10

    private struct Change: Decodable {
        let preference: JSONValue

        enum CodingKeys: String, CodingKey { case preference = "personalization_preference" }
    }

    static func add(to router: WorldRoutes<Self>) { router.patch("api/v1/user/preferences", use: change) }

    @Sendable private func change(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body: Change = try await request.decodeJSON(in: context)
        let checked = try Self.checked(body.preference)
        try await runtime.store.accounts.setPreferences(
            .object(checked), of: principal.user, in: principal.business,
            upTo: Self.largest, at: runtime.clock.now)
        let all = try await runtime.store.accounts.preferences(of: principal.user, in: principal.business)
        return try await .longJSON(
            .ok,
            [
                "preference": [
                    "personalization_preference": [
                        "verbosity": .value(all[AmbientSessions.verbosity] ?? .string("BALANCED")),
                        "section_format": .value(all[AmbientSessions.sectionFormat] ?? .array([])),
                    ]
                ]
            ])
    }

    /// Validates preferences; invalid ones change nothing.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    private static func checked(_ preference: JSONValue) throws(ScribeError) -> [String: JSONValue] {
        let name = "personalization_preference"
        guard preference.isObject else { throw .invalidRequest(field: name, problem: "must be an object") }
        var checked: [String: JSONValue] = [:]
        if let verbosity = preference["verbosity"], verbosity != .null {
            checked[AmbientSessions.verbosity] = .string(try word(verbosity, "\(name).verbosity", verbosities))
        }
        guard let formats = preference["section_format"], formats != .null else { return checked }
        guard case .array(let items) = formats else {
            throw .invalidRequest(field: "\(name).section_format", problem: "must be an array")
        }
        try Limits.require(items.count, atMost: Limits.sectionsOfTemplate, "\(name).section_format")
        var kept: [JSONValue] = []
        for (index, item) in items.enumerated() {
            let field = "\(name).section_format.\(index)"
            guard let code = item["loinc"]?.stringValue, AmbientSection.styled.contains(code) else {
                throw .invalidRequest(
                    field: "\(field).loinc",
                    problem: "is none of \(AmbientSection.styled.sorted().joined(separator: ", "))")
            }
            let style = try word(item["style"] ?? .null, "\(field).style", styles)
            kept.append(.object(["loinc": .string(code), "style": .string(style)]))
        }
        checked[AmbientSessions.sectionFormat] = .array(kept)
        return checked
    }

    private static func word(_ value: JSONValue, _ field: String, _ words: [String]) throws(ScribeError) -> String {
        guard let word = value.stringValue?.uppercased(), words.contains(word) else {
            throw .invalidRequest(field: field, problem: "is none of \(words.joined(separator: ", "))")
        }
        return word
    }
}
