import Basics
import Hummingbird
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/objects`: lists the uploads of a namespace, and returns their bytes, for assertions.
struct ObjectRoutes: Sendable {
    let uploads: Uploads
    let store: Store

    private static let maxListed = 1000
    /// Type of every answer with bytes: a browser must not show what a client has uploaded.
    private static let contentType = "application/octet-stream"

    static func add(to router: WorldRoutes<Self>) {
        router.get("objects", use: list)
        router.get("objects/{object_id}", use: read)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let query = request.query
        let limit = try query.integer("limit", in: 1...Self.maxListed) ?? Self.maxListed
        let found = try await store.audio.objects(
            of: query.text("business").map { BusinessID($0) }, holding: query.text("transaction"),
            after: try query.integer("after", in: 0...Int.max).map { Int64($0) }, limit: limit)
        return try await .longJSON(
            .ok,
            [
                "objects": .array(found) { entry in
                    [
                        "object_id": .string(String(entry.id)), "business_id": .string(entry.business.rawValue),
                        "bucket": .string(entry.object.bucket), "key": .string(entry.object.key),
                        "size": .integer(entry.object.size), "etag": .string(entry.object.eTag),
                        "content_type": .string(entry.object.contentType ?? Self.contentType),
                        "created_at": .string(entry.object.createdAt.apiTime),
                    ]
                },
                "next": found.count == limit ? found.last.map { .string(String($0.id)) } ?? .null : .null,
            ])
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let id = Int64(try context.parameters.require("object_id")),
            let object = try await store.audio.object(id: id), let reader = try await uploads.open(object)
        else { throw ControlError.notFound("such object") }
        return Response(
            status: .ok,
            headers: [
                .contentType: Self.contentType, .contentTypeOptions: "nosniff", .cacheControl: "no-store",
                .contentDisposition: "attachment",
            ],
            body: ResponseBody(contentLength: object.size) { writer in
                let isWhole = try await reader.read(0..<object.size) { try await writer.write($0) }
                guard isWhole else { throw ControlError.notFound("more of the object") }
                try await writer.finish(nil)
            })
    }
}
