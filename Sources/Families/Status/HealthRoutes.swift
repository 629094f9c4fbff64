import Documents
import Engines
import Hummingbird
import NIOCore
import NIOPosix
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// What a supervisor and a newcomer ask first. Without authentication.
struct HealthRoutes: Sendable {
    let runtime: Runtime
    /// Recognises live speech.
    let engine: any LiveEngine
    let build: StatusFamily.Build
    let threads: NIOThreadPool
    let authority: String?
    let memory: MemoryBudget

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("livez") { _, _ in Response.json(.ok, ["status": "alive"]) }
        router.get("readyz", use: ready)
        router.get("metrics", use: prometheus)
        router.get("ca.pem", use: authorityFile)
        router.get("voice/ping") { _, _ in Response.json(.ok, ["ping": "pong"]) }
        router.get("openapi.yaml") { _, _ in Self.served(document_scribe()) }
        for index in 0..<family_document_count() {
            let family = family_document(index)
            router.get("openapi/\(String(cString: family.name)).yaml") { _, _ in
                Self.served(family_document(index).document)
            }
        }
        router.get("ambient.asyncapi.yaml") { _, _ in Self.served(document_ambient()) }
        router.get("omi.asyncapi.yaml") { _, _ in Self.served(document_omi()) }
        // The older path, for one version.
        router.get("edge.asyncapi.yaml") { _, _ in Self.served(document_omi()) }
        router.get("listen.asyncapi.yaml") { _, _ in Self.served(document_listen()) }
    }

    private static func served(_ document: document) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/yaml"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.bytes)))
    }

    /// Where a phone fetches what it is to trust.
    @Sendable private func authorityFile(_ request: Request, context: ScribeContext) throws -> Response {
        guard let authority else {
            throw HTTPProblem.routeNotFound(hint: "There is no authority of this server's own; --tls makes one")
        }
        return Response(
            status: .ok, headers: [.contentType: "application/x-x509-ca-cert"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: authority)))
    }

    @Sendable private func prometheus(_ request: Request, context: ScribeContext) async throws -> Response {
        let isReady = await runtime.queries.storage.isReachable()
        let condition = runtime.transcriber.condition
        var readings = try await threads.runIfActive { ProcessReadings.current() }
        // Without the database the rest is still there: an alarm on readiness needs it then.
        if let size = try? await runtime.queries.storage.size() {
            readings += [
                MetricReading(.jobs, size.jobs), MetricReading(.databaseBytes, size.databaseBytes),
                MetricReading(.objects, size.objects), MetricReading(.objectBytes, size.objectBytes),
            ]
        }
        if let deliveries = try? await runtime.queries.deliveries.counts() {
            readings += [
                MetricReading(.deliveriesPending, deliveries.pending),
                MetricReading(.deliveriesFailed, deliveries.failed),
            ]
        }
        readings += [
            MetricReading(.ready, isReady), MetricReading(.storageHasRoom, runtime.reserve.hasRoom),
            MetricReading(.transcriberAvailable, condition == .available),
            MetricReading(.circuitOpen, labels: ["transcriber"], condition == .unavailable),
            MetricReading(.circuitOpen, labels: ["note_writer"], runtime.noteWriter.condition == .unavailable),
            MetricReading(.circuitOpen, labels: ["live"], engine.condition == .unavailable),
            MetricReading(.heldPolls, runtime.signals.waiterCount),
            MetricReading(.memoryHeldBytes, memory.total), MetricReading(.memoryBudgetBytes, memory.limit),
            MetricReading(.buildInfo, labels: [build.version, build.commit], 1),
        ]
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: runtime.metrics.text(readings: readings)))
        )
    }

    @Sendable private func ready(_ request: Request, context: ScribeContext) async throws -> Response {
        let isReady = await runtime.queries.storage.isReachable()
        let name = runtime.transcriber.name
        let condition = runtime.transcriber.condition
        return .json(
            isReady ? .ok : .serviceUnavailable,
            [
                "status": isReady ? "ready" : "not ready",
                "components": [
                    // Nobody is listened to before migrations and seed are done.
                    "seed": "ready", "database": isReady ? "ready" : "unreachable",
                    // Deletions are still possible, which is why this alone does not make it unready.
                    "storage": runtime.reserve.hasRoom ? "ready" : "full",
                    "transcriber": .string(condition == .available ? name : "\(name) \(condition.rawValue)"),
                ],
            ])
    }
}
