/// Engine behind the server, a recogniser or a note writer: its name and its health.
package protocol Engine: Sendable {
    /// Name of the engine in the banner, in `/readyz` and in logs, for example `fake`.
    var name: String { get }

    /// Whether the engine can be used now, for `/readyz`. Read often: it asks no service.
    var condition: EngineCondition { get }

    /// Checks whether the service behind the engine is up, without input and free of charge. The server probes at its
    /// start, then once a minute while ``hasFailedLast`` is true. A cancellation ends the probe early; its result is
    /// then ignored.
    /// - Returns: request and answer of the failed check; nil if the service is up or there is none.
    func probe() async -> FailedProbe?

    /// Whether the last request to the service failed, including probes.
    var hasFailedLast: Bool { get }
}

extension Engine {
    package var condition: EngineCondition { .available }
    package func probe() async -> FailedProbe? { nil }
    package var hasFailedLast: Bool { false }
}

/// Request and answer of a failed probe.
package struct FailedProbe: Hashable, Sendable {
    /// Request without its key, for the log: `GET http://127.0.0.1:9000/v1/models`.
    package let asked: String
    package let answer: String

    package init(asked: String, answer: String) {
        self.asked = asked
        self.answer = answer
    }
}
