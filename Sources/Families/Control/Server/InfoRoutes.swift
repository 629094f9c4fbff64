import Basics
import Documents
import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/info` and `/__admin/openapi.yaml`: the server's settings, counts and API document.
struct InfoRoutes: Sendable {
    let runtime: Runtime
    let about: @Sendable () -> [String: String]

    static func add(to router: WorldRoutes<Self>) {
        router.get("info", use: info)
        router.get("openapi.yaml", use: document)
    }

    @Sendable private func document(_ request: Request, _ context: ScribeContext) async throws -> Response {
        // `openapi/control.yaml`.
        Response(status: .ok, headers: [.contentType: "application/yaml"], body: ResponseBody(document_control))
    }

    @Sendable private func info(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let size = try await runtime.store.size()
        let deliveries = try await runtime.store.webhooks.deliveryCounts()
        return .json(
            .ok,
            [
                "name": "scribe-emulator", "time": .string(runtime.clock.wall.now.apiTime),
                "settings": .value(.object(about().mapValues(JSONValue.string))),
                "counts": [
                    "jobs": .integer(size.jobs), "objects": .integer(size.objects),
                    "object_bytes": .integer(size.objectBytes), "database_bytes": .integer(size.databaseBytes),
                    "webhooks": .integer(deliveries.webhooks), "pending_deliveries": .integer(deliveries.pending),
                    "failed_deliveries": .integer(deliveries.failed),
                ],
            ])
    }
}
