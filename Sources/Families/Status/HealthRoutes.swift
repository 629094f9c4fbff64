import Basics
import Engines
import Hummingbird
import NIOCore
import NIOPosix
import ObjectStorage
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/readyz`, `/metrics` and `/ca.pem`: for supervisors, collectors and new devices. Without authentication.
struct HealthRoutes: Sendable {
    let runtime: Runtime
    /// Engine for live speech, whose state is reported.
    let engine: any LiveEngine
    let build: StatusFamily.Build
    let threads: NIOThreadPool
    /// Development authority's certificate as PEM text; nil if the server has none.
    let authorityPEM: String?
    let memory: MemoryBudget

    static func add(to router: WorldRoutes<Self>) {
        router.get("readyz", use: ready)
        router.get("metrics", use: prometheus)
        router.get("ca.pem", use: authorityFile)
    }

    /// Serves the server's own CA certificate, for a phone to install.
    @Sendable private func authorityFile(_ request: Request, context: ScribeContext) async throws -> Response {
        guard let authorityPEM else {
            throw HTTPProblem.routeNotFound(hint: "The server has no CA certificate of its own; start it with --tls")
        }
        return Response(
            status: .ok, headers: [.contentType: "application/x-x509-ca-cert"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: authorityPEM)))
    }

    @Sendable private func prometheus(_ request: Request, context: ScribeContext) async throws -> Response {
        let isReady = await runtime.store.isReachable()
        let condition = runtime.transcriber.condition
        var readings = try await threads.runIfActive { ProcessReadings.current() }
        // Without the database the other readings remain: a readiness alarm needs them then.
        if let size = try? await runtime.store.size() {
            readings += [
                MetricReading(.jobs, size.jobs), MetricReading(.databaseBytes, size.databaseBytes),
                MetricReading(.objects, size.objects), MetricReading(.objectBytes, size.objectBytes),
            ]
        }
        if let deliveries = try? await runtime.store.webhooks.deliveryCounts() {
            readings += [
                MetricReading(.deliveriesPending, deliveries.pending),
                MetricReading(.deliveriesFailed, deliveries.failed),
            ]
        }
        let worlds = context.directory?.worlds ?? [context.world]
        readings += [
            MetricReading(.ready, isReady), MetricReading(.storageHasRoom, await runtime.reserve.hasRoom()),
            MetricReading(.transcriberAvailable, condition == .available),
            MetricReading(.circuitOpen, labels: ["transcriber"], condition == .unavailable),
            MetricReading(.circuitOpen, labels: ["note_writer"], runtime.noteWriter.condition == .unavailable),
            MetricReading(.circuitOpen, labels: ["live"], engine.condition == .unavailable),
            MetricReading(.heldPolls, worlds.total { $0.runtime.signals.waiterCount }),
            MetricReading(.namespaces, worlds.count - 1),
            MetricReading(.namespaceMemoryBytes, runtime.memory.total),
            MetricReading(.memoryHeldBytes, memory.total), MetricReading(.memoryBudgetBytes, memory.limit),
            MetricReading(.buildInfo, labels: [build.version, build.commit], 1),
        ]
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: runtime.metrics.text(readings: readings)))
        )
    }

    @Sendable private func ready(_ request: Request, context: ScribeContext) async throws -> Response {
        let isReady = await runtime.store.isReachable()
        // An unreachable object store does not make the server unready: polls and deletions still work.
        let hasRoom = await runtime.reserve.hasRoom()
        let storage =
            if !hasRoom { "full" } else {
                await runtime.uploads.objects.isReachable() ? "ready" : "unreachable"
            }
        let risks = isReady ? await runtime.store.sharedRisks() : nil
        return .json(
            isReady ? .ok : .serviceUnavailable,
            [
                "status": isReady ? "ready" : "not ready",
                "components": [
                    // The server opens its port after migrations and seeding, so this is always "ready".
                    "seed": "ready", "database": isReady ? "ready" : "unreachable", "storage": .string(storage),
                    "transcriber": state(of: runtime.transcriber), "note_writer": state(of: runtime.noteWriter),
                    "durability": risks.map { .string($0.isEmpty ? "ready" : $0.joined(separator: "; ")) },
                ],
            ])
    }

    /// Name of an engine, with its condition where it cannot be used.
    private func state(of engine: any Engine) -> JSON {
        let condition = engine.condition
        return .string(condition == .available ? engine.name : "\(engine.name) \(condition.rawValue)")
    }
}
