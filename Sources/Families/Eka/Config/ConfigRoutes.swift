import Basics
import Foundation
import Hummingbird
import HummingbirdCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/api/v2/config`: the options, and the user's choices (eka.md 2.10).
struct ConfigRoutes: Sendable {
    let runtime: Runtime
    let profiles: ClientProfiles

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/api/v2/config", use: read)
        router.put("voice/api/v2/config", use: change)
    }

    @Sendable private func read(_ request: Request, context: ScribeContext) async throws -> Response {
        let query = request.uri.queryParameters
        if let zone = query["timezone"] { return try time(in: String(zone)) }
        let principal = try context.requirePrincipal()
        let stored = try await runtime.store.accounts.preferences(of: principal.user, in: principal.business)
        try await context.hold(try await runtime.store.templates.templateListSize(of: principal.business))
        let own = try await runtime.store.templates.all(of: principal.business)
        let favourites = Favourites(stored, catalogue: runtime.templates, own: own)
        let templates = favourites.items
        let mine = templates.map { Choice(id: $0.id.rawValue, name: $0.title) }
        if query["my_templates"] == "true" || query["my_template"] == "true" {
            // Both spellings of the query at once: older iOS reads `items` (C-96), the web client `data` (C-97).
            return try await .longJSON(
                .ok, ["items": .array(templates) { $0.json }, "data": ["my_templates": mine.json]])
        }
        let formats = favourites.allItems.map { Choice(id: $0.id.rawValue, name: $0.title) }
        let config = ConfigDocument(
            chosen: ChosenPreferences(
                stored, formats: runtime.templates.templates.map { Choice(id: $0.id.rawValue, name: $0.name) }),
            formats: formats, myTemplates: mine, principal: principal,
            client: try await runtime.store.accounts.client(principal.client)?.client, extras: Self.extras(in: stored))
        let data = profiles.profile(of: request, context).hasNestedConfig ? config.nested : config.flat
        return try await .longJSON(.ok, ["data": data])
    }

    /// The stored members that the server does not read.
    private static func extras(in stored: JSONValue) -> [String: JSONValue] {
        guard case .object(let members) = stored else { return [:] }
        return members.filter { PreferenceKey(rawValue: $0.key) == nil }
    }

    /// Largest body, in bytes: it may hold letterhead pictures in base64.
    static let bodyLimit = 8 << 20

    private func time(in zone: String) throws -> Response {
        guard zone.isPlain, TimeZone.knownTimeZoneIdentifiers.contains(zone) || Self.isAlias(zone) else {
            throw ScribeError.invalidRequest(field: "timezone", problem: "is not a time zone such as Asia/Kolkata")
        }
        let now = runtime.clock.wall.now
        return .json(
            .ok,
            [
                "timezone": .string(zone), "current_time_utc": .string(now.apiTime),
                "timestamp": .integer(Int(saturating: now.timeIntervalSince1970)),
            ])
    }

    /// Whether the text is an older time zone name that browsers still send, such as `Asia/Calcutta`, `Japan` or
    /// `EST5EDT`.
    ///
    /// Refuses `GMT+0530`. `TimeZone` computes with the text behind `GMT+` before it checks for digits, and a bad text
    /// ends the process.
    static func isAlias(_ zone: String) -> Bool {
        zone.utf8.count <= 64
            && zone.range(
                of: "^([A-Za-z]+([0-9][A-Z]{3})?|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+)$", options: .regularExpression) != nil
            && TimeZone(identifier: zone) != nil
    }

    @Sendable private func change(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body: ConfigBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        let user = body.scope == .user ? principal.user : nil
        try await runtime.store.accounts.setPreferences(
            body.data, of: user, in: principal.business, upTo: Self.bodyLimit, at: runtime.clock.now)
        let message: JSON = "Config upserted successfully"
        if profiles.profile(of: request, context).wantsBareAcknowledgement { return .json(.ok, message) }
        // The result is always "updated": a configuration exists from the start, with defaults.
        let result: JSON = [
            "action": "updated", "b_id": .string(principal.business.rawValue),
            "user_uuid": .string(principal.user.rawValue),
        ]
        return .json(.ok, ["message": message, "msg": message, "result": result])
    }
}
