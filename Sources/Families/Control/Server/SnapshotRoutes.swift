import Basics
import HTTPTypes
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// `/__admin/snapshots`: saves, restores, exports and imports snapshots of a namespace.
struct SnapshotRoutes: Sendable {
    /// Content type of a snapshot's file.
    static let contentType = "application/octet-stream"

    static func add(to router: WorldRoutes<Self>) {
        router.get("snapshots", use: list)
        router.get("snapshots/{snapshot}", use: read)
        router.put("snapshots/{snapshot}", use: save)
        router.delete("snapshots/{snapshot}", use: delete)
        router.post("snapshots/{snapshot}/restore", use: restore)
        router.get("snapshots/{snapshot}/content", use: export)
        router.put("snapshots/{snapshot}/content", use: importContent)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let snapshots = try Self.snapshots(context)
        let records = try await snapshots.list()
        return try await .longJSON(
            .ok, ["snapshots": .array(records) { .object($0.members) }, "max": .integer(snapshots.limit)])
    }

    @Sendable private func read(_ request: Request, _ context: ScribeContext) async throws -> Response {
        .json(.ok, .object(try await Self.snapshots(context).record(of: try Self.known(context)).members))
    }

    @Sendable private func save(_ request: Request, _ context: ScribeContext) async throws -> Response {
        _ = try await request.fields(context: context)
        return .json(.ok, .object(try await Self.snapshots(context).save(as: try Self.name(context)).members))
    }

    @Sendable private func delete(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await Self.snapshots(context).delete(try Self.known(context))
        return Response(status: .noContent)
    }

    @Sendable private func restore(_ request: Request, _ context: ScribeContext) async throws -> Response {
        _ = try await request.fields(context: context)
        let state = try await Self.snapshots(context).restore(try Self.known(context))
        return .json(
            .ok,
            [
                "namespace": .string(context.world.namespace?.rawValue ?? NamespaceName.ofDefaultWorld),
                "state": .integer(state),
            ])
    }

    @Sendable private func export(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let name = try Self.known(context)
        let archive = try await Self.snapshots(context).archive(of: name)
        return Response(
            status: .ok,
            headers: [
                .contentType: Self.contentType, .contentDisposition: #"attachment; filename="\#(name).tar""#,
                .cacheControl: "no-store",
            ],
            body: ResponseBody(contentLength: archive.size) { writer in
                var pieces = archive.pieces()
                while let piece = try await pieces.next() { try await writer.write(piece) }
                try await writer.finish(nil)
            })
    }

    @Sendable private func importContent(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let record = try await Self.snapshots(context).read(try Self.name(context), from: request.body)
        return .json(.ok, .object(record.members))
    }

    private static func snapshots(_ context: ScribeContext) throws -> any SnapshotControl {
        guard let control = context.directory?.control else { throw NamespaceProblem.off }
        return try control.snapshots(of: context.world.namespace)
    }

    /// The name of a snapshot that is to be made.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a text that is no name.
    private static func name(_ context: ScribeContext) throws -> SnapshotName {
        guard let name = SnapshotName(try context.parameters.require("snapshot")) else {
            throw ScribeError.invalidRequest(
                field: "snapshot", problem: "must be 1 to 64 letters, digits, '.', '_' and '-', and not begin with '.'")
        }
        return name
    }

    /// The name of a snapshot that is there.
    /// - Throws: ``SnapshotProblem/unknown`` for a text that is no name.
    private static func known(_ context: ScribeContext) throws -> SnapshotName {
        guard let name = SnapshotName(try context.parameters.require("snapshot")) else { throw SnapshotProblem.unknown }
        return name
    }
}

extension SnapshotRecord {
    fileprivate var members: [JSON.Member] {
        [
            ("name", .string(name.rawValue)), ("created_at", .string(createdAt.apiTime)),
            ("objects", .integer(objects)), ("size", .integer(size)),
        ]
    }
}
