import Basics
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/v3/memories`: lists, creates and edits a user's memories (streaming.md 4.8).
struct MemoryRoutes: Sendable {
    let runtime: Runtime

    private struct New: Decodable {
        let content: String
        let visibility: String?
        let category: String?
    }

    /// Body of a change of one value.
    private struct Value: Decodable {
        let value: String
    }

    /// The backend's limit of a page, and the length of its first page, whatever the query asks for.
    private static let maxListed = 5000

    static func add(to router: WorldRoutes<Self>) {
        router.group("v3/memories")
            .get(use: list)
            .post(use: create)
            .patch("{memory_id}", use: change)
            .patch("{memory_id}/visibility", use: setVisibility)
            .delete("{memory_id}", use: delete)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let offset = try request.query.integer("offset", movedInto: 0...1_000_000_000) ?? 0
        let limit = try request.query.integer("limit", movedInto: 1...Self.maxListed) ?? 100
        let categories = request.query["categories"]?.split(separator: ",").map(String.init) ?? []
        try await context.hold(try await runtime.store.conversations.memoryListSize(of: principal))
        let memories = try await runtime.store.conversations.memories(
            of: principal, categories: categories.isEmpty ? nil : categories, offset: offset,
            limit: offset == 0 ? Self.maxListed : limit)
        return try await .longJSON(.ok, .array(memories) { $0.json(of: principal.user) })
    }

    @Sendable private func create(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let new = try await request.decodeJSON(as: New.self, in: context)
        let content = try Self.content(new.content, "content")
        let category = new.category ?? "interesting"
        guard (1...64).contains(category.utf8.count), category.isPlain else {
            throw ScribeError.invalidRequest(field: "category", problem: "must be a name such as interesting")
        }
        let now = runtime.clock.now
        let memory = Memory(
            id: runtime.identifiers.uuid(.memory), content: content, category: category,
            visibility: try Self.visibility(new.visibility ?? "private", "visibility"), createdAt: now, updatedAt: now,
            conversation: nil)
        try await runtime.store.conversations.addMemory(memory, of: principal)
        return .json(.ok, memory.json(of: principal.user))
    }

    @Sendable private func change(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await changed(context, content: try Self.content(try await value(of: request, context), "value"))
    }

    @Sendable private func setVisibility(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let value = try await value(of: request, context)
        guard Self.visibilities.contains(value) else { throw OmiError.invalidValue("Invalid visibility value") }
        return try await changed(context, visibility: value)
    }

    /// The new value: from a body, as the desktop app sends it, or else from the query, as the phone's app does.
    private func value(of request: Request, _ context: ScribeContext) async throws -> String {
        if let body = try await request.decodeOptionalJSON(as: Value.self, in: context) { return body.value }
        guard let value = request.query["value"] else { throw OmiInvalidInput.missing(.query, "value") }
        return String(value)
    }

    @Sendable private func delete(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let id = context.text(of: "memory_id"),
            try await runtime.store.conversations.deleteMemory(id, of: try context.requirePrincipal())
        else { throw OmiError.notFound("Memory") }
        return Self.ok
    }

    private func changed(
        _ context: ScribeContext, content: String? = nil, visibility: String? = nil
    ) async throws -> Response {
        guard let id = context.text(of: "memory_id"),
            try await runtime.store.conversations.changeMemory(
                id, of: try context.requirePrincipal(), content: content, visibility: visibility, at: runtime.clock.now)
        else { throw OmiError.notFound("Memory") }
        return Self.ok
    }

    private static var ok: Response { .json(.ok, ["status": "ok"]) }

    private static func content(_ text: String, _ field: String) throws(ScribeError) -> String {
        let content = text.trimmingCharacters(in: .whitespacesAndNewlines).storable
        guard !content.isEmpty else { throw .invalidRequest(field: field, problem: "must not be empty") }
        try OmiLimits.require(content, atMost: OmiLimits.memory, field)
        return content
    }

    private static let visibilities = ["public", "private"]

    private static func visibility(_ text: String, _ field: String) throws(ScribeError) -> String {
        guard visibilities.contains(text) else {
            throw .invalidRequest(field: field, problem: "must be public or private")
        }
        return text
    }
}
