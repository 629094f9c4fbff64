import Hummingbird
import NIOCore
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// What the server says of itself.
struct InfoRoutes: Sendable {
    let runtime: Runtime
    let about: @Sendable () -> [String: String]

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("info", use: info)
        router.get("openapi.yaml") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/yaml"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: ControlFamily.openAPI)))
        }
    }

    private struct Body: Encodable {
        struct Counts: Encodable {
            let jobs: Int
            let objects: Int
            let objectBytes: Int
            let databaseBytes: Int
            let webhooks: Int
            let pendingDeliveries: Int
            let failedDeliveries: Int

            enum CodingKeys: String, CodingKey {
                case jobs, objects, webhooks
                case objectBytes = "object_bytes"
                case databaseBytes = "database_bytes"
                case pendingDeliveries = "pending_deliveries"
                case failedDeliveries = "failed_deliveries"
            }
        }

        let name = "scribe-emulator"
        let time: String
        let settings: [String: String]
        let counts: Counts
    }

    @Sendable private func info(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let size = try await runtime.store.size()
        let deliveries = try await runtime.webhooks.counts()
        let counts = Body.Counts(
            jobs: size.jobs, objects: size.objects, objectBytes: size.objectBytes, databaseBytes: size.databaseBytes,
            webhooks: deliveries.webhooks, pendingDeliveries: deliveries.pending, failedDeliveries: deliveries.failed)
        return try .json(.ok, Body(time: runtime.clock.now.apiTime, settings: about(), counts: counts))
    }
}
