/// A metric family of `/metrics`. Each one has a row in `docs/metrics.md`.
package enum Metric: String, CaseIterable, Sendable {
    case requests = "scribe_requests_total"
    case requestSeconds = "scribe_request_seconds"
    case connections = "scribe_connections"
    case heldPolls = "scribe_held_polls"
    case chunks = "scribe_chunks_total"
    case transcriptionSeconds = "scribe_transcription_seconds"
    case notes = "scribe_notes_total"
    case noteSeconds = "scribe_note_seconds"
    case transactions = "scribe_transactions_total"
    case segments = "scribe_segments_total"
    case jobs = "scribe_jobs"
    case deliveries = "scribe_webhook_deliveries_total"
    case deliveriesPending = "scribe_deliveries_pending"
    case deliveriesFailed = "scribe_deliveries_failed"
    case ready = "scribe_ready"
    case storageHasRoom = "scribe_storage_has_room"
    case transcriberAvailable = "scribe_transcriber_available"
    case circuitOpen = "scribe_circuit_open"
    case databaseBytes = "scribe_database_bytes"
    case objects = "scribe_objects"
    case objectBytes = "scribe_object_bytes"
    case memoryHeldBytes = "scribe_memory_held_bytes"
    case memoryBudgetBytes = "scribe_memory_budget_bytes"
    case namespaces = "scribe_namespaces"
    case namespaceMemoryBytes = "scribe_namespace_memory_bytes"
    case buildInfo = "scribe_build_info"
    case startTime = "process_start_time_seconds"
    case cpuSeconds = "process_cpu_seconds_total"
    case residentMemory = "process_resident_memory_bytes"
    case openFiles = "process_open_fds"
    case maximumFiles = "process_max_fds"
    case threads = "process_threads"

    /// Prometheus' metric types.
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package var kind: Kind {
        switch self {
        case .requests, .chunks, .notes, .transactions, .segments, .deliveries, .cpuSeconds: .counter
        case .requestSeconds, .transcriptionSeconds, .noteSeconds: .histogram
        case .connections, .heldPolls, .jobs, .deliveriesPending, .deliveriesFailed, .ready, .storageHasRoom,
            .transcriberAvailable, .circuitOpen, .databaseBytes, .objects, .objectBytes, .memoryHeldBytes,
            .memoryBudgetBytes, .namespaces, .namespaceMemoryBytes, .buildInfo, .startTime, .residentMemory, .openFiles,
            .maximumFiles, .threads:
            .gauge
        }
    }

    /// The names of the labels in their order of output, without `le` of histograms.
    package var labels: [String] {
        switch self {
        case .requests: ["method", "route", "status"]
        case .requestSeconds: ["method", "route"]
        case .chunks: ["transcriber", "outcome"]
        case .transcriptionSeconds: ["transcriber"]
        case .notes: ["writer", "outcome"]
        case .noteSeconds: ["writer"]
        case .transactions: ["outcome"]
        case .segments: ["source"]
        case .deliveries: ["style", "outcome"]
        case .circuitOpen: ["engine"]
        case .buildInfo: ["version", "commit"]
        case .connections, .heldPolls, .jobs, .deliveriesPending, .deliveriesFailed, .ready, .storageHasRoom,
            .transcriberAvailable, .databaseBytes, .objects, .objectBytes, .memoryHeldBytes, .memoryBudgetBytes,
            .namespaces, .namespaceMemoryBytes, .startTime, .cpuSeconds, .residentMemory, .openFiles, .maximumFiles,
            .threads:
            []
        }
    }

    /// The text for `# HELP` and for `docs/metrics.md`.
    package var help: String {
        switch self {
        case .requests: "Requests answered, by method, route and status."
        case .requestSeconds: "Seconds from a request's head to its answer's head."
        case .connections: "Open connections of clients."
        case .heldPolls: "Status polls that wait for a change."
        case .chunks: "Recognitions of audio files; outcome is success or the code of the failure."
        case .transcriptionSeconds: "Seconds that one recognition took."
        case .notes: "Notes written; outcome is success or the code of the failure."
        case .noteSeconds: "Seconds that one note took."
        case .transactions: "Transactions processed; outcome is their final processing status."
        case .segments: "Segments added to conversations of devices; source is edge_asr, suggested, audio or call."
        case .jobs: "Jobs that wait or run."
        case .deliveries: "Attempts to deliver to webhooks and callbacks; outcome is delivered, retried or failed."
        case .deliveriesPending: "Deliveries neither delivered nor given up yet."
        case .deliveriesFailed: "Deliveries that were given up and are still stored."
        case .ready: "1 while the server is ready and /readyz answers 200, else 0."
        case .storageHasRoom: "1 while uploads can be stored, 0 while the disk is full."
        case .transcriberAvailable:
            "1 while the transcriber is available, 0 while it is unreachable or its circuit is open."
        case .circuitOpen:
            "1 while an engine gets no requests after failures in a row; engine is transcriber, note_writer or live."
        case .databaseBytes: "Bytes of the database."
        case .objects: "Stored objects."
        case .objectBytes: "Bytes of the stored objects."
        case .memoryHeldBytes: "Bytes of memory held for clients."
        case .memoryBudgetBytes: "Maximum number of bytes of memory held for clients: the setting memory-budget."
        case .namespaces: "Number of namespaces."
        case .namespaceMemoryBytes:
            "Bytes of the rows in memory, playbacks, fixtures and fault rules of all namespaces together."
        case .buildInfo: "Always 1; version and commit name the build that runs."
        case .startTime: "Start time of the process, in seconds since 1970."
        case .cpuSeconds: "Processor time that the process has used, in seconds."
        case .residentMemory: "Bytes of physical memory that the process uses."
        case .openFiles: "Open files and sockets of the process."
        case .maximumFiles: "Maximum number of open files and sockets of the process."
        case .threads: "Threads of the process."
        }
    }
}

/// One value of a metric family.
package struct MetricReading: Hashable, Sendable {
    package let metric: Metric
    /// The values of the labels, in the order of ``Metric/labels``.
    package let labels: [String]
    package let value: Double

    package init(_ metric: Metric, labels: [String] = [], _ value: Double) {
        self.metric = metric
        self.labels = labels
        self.value = value
    }

    package init(_ metric: Metric, labels: [String] = [], _ value: Int) {
        self.init(metric, labels: labels, Double(value))
    }

    /// 1 for true, 0 for false.
    package init(_ metric: Metric, labels: [String] = [], _ value: Bool) {
        self.init(metric, labels: labels, value ? 1 : 0.0)
    }
}
