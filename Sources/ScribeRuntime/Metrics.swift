import ScribeDomain

/// Counts what the server does, for Prometheus. Labels are routes, words and numbers: never what a client sent.
package final class Metrics: Sendable {
    /// One time series: a name with its labels.
    private struct Series: Hashable {
        let name: String
        let labels: [String]
    }

    fileprivate struct Histogram {
        var counts = [Int](repeating: 0, count: Metrics.buckets.count)
        var sum = 0.0
        var count = 0
    }

    private struct State {
        var counters: [Series: Int] = [:]
        var gauges: [Series: Int] = [:]
        var histograms: [Series: Histogram] = [:]
    }

    /// In seconds: from a cached answer to a held poll and a slow recogniser.
    fileprivate static let buckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30, 120]

    private let state = LockedValue(State())

    package init() {}

    package func requestServed(method: String, route: String, status: Int, seconds: Double) {
        let labels = ["method", method, "route", route]
        state.withLock { state in
            state.counters[
                Series(name: "scribe_requests_total", labels: labels + ["status", String(status)]), default: 0] += 1
            state.histograms[Series(name: "scribe_request_seconds", labels: labels), default: .init()].record(seconds)
        }
    }

    /// - Parameter outcome: `success` or the code of the failure.
    package func chunkTranscribed(by transcriber: String, outcome: String, seconds: Double) {
        state.withLock { state in
            let labels = ["transcriber", transcriber, "outcome", outcome]
            state.counters[Series(name: "scribe_chunks_total", labels: labels), default: 0] += 1
            let series = Series(name: "scribe_transcription_seconds", labels: ["transcriber", transcriber])
            state.histograms[series, default: .init()].record(seconds)
        }
    }

    /// - Parameter outcome: `success` or the code of the failure.
    package func noteWritten(by writer: String, outcome: String, seconds: Double) {
        state.withLock { state in
            let labels = ["writer", writer, "outcome", outcome]
            state.counters[Series(name: "scribe_notes_total", labels: labels), default: 0] += 1
            let series = Series(name: "scribe_note_seconds", labels: ["writer", writer])
            state.histograms[series, default: .init()].record(seconds)
        }
    }

    /// - Parameter source: how the segments of a conversation came: `edge_asr`, `suggested`, `audio` or `call`.
    package func segmentsAdded(_ count: Int, from source: String) {
        let series = Series(name: "scribe_segments_total", labels: ["source", source])
        state.withLock { $0.counters[series, default: 0] += count }
    }

    /// - Parameter outcome: the processing status that it ended with.
    package func transactionProcessed(outcome: String) {
        let series = Series(name: "scribe_transactions_total", labels: ["outcome", outcome])
        state.withLock { $0.counters[series, default: 0] += 1 }
    }

    /// - Parameters:
    ///   - style: of the registration, or `callback`.
    ///   - settlement: `delivered`, `retried` or `failed`.
    package func deliverySettled(style: String, settlement: String) {
        let series = Series(
            name: "scribe_webhook_deliveries_total", labels: ["style", style, "outcome", settlement])
        state.withLock { $0.counters[series, default: 0] += 1 }
    }

    package func connectionOpened() { addConnections(1) }
    package func connectionClosed() { addConnections(-1) }

    private func addConnections(_ count: Int) {
        let series = Series(name: "scribe_connections", labels: [])
        state.withLock { $0.gauges[series, default: 0] += count }
    }

    /// Everything in Prometheus' text format.
    /// - Parameter readings: further gauges, taken for this answer.
    package func text(readings: [(name: String, value: Double)]) -> String {
        let state = state.withLock { $0 }
        var lines: [String] = []
        func group(_ series: some Collection<Series>, _ type: String, _ write: (Series) -> Void) {
            for (name, members) in Dictionary(grouping: series, by: \.name).sorted(by: { $0.key < $1.key }) {
                lines.append("# TYPE \(name) \(type)")
                members.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }.forEach(write)
            }
        }
        group(state.counters.keys, "counter") { series in
            lines.append("\(series.name)\(Self.braces(series.labels)) \(state.counters[series] ?? 0)")
        }
        group(state.gauges.keys, "gauge") { series in
            lines.append("\(series.name)\(Self.braces(series.labels)) \(state.gauges[series] ?? 0)")
        }
        group(state.histograms.keys, "histogram") { series in
            guard let histogram = state.histograms[series] else { return }
            for (bound, count) in zip(Self.buckets, histogram.counts) {
                lines.append("\(series.name)_bucket\(Self.braces(series.labels + ["le", "\(bound)"])) \(count)")
            }
            lines.append("\(series.name)_bucket\(Self.braces(series.labels + ["le", "+Inf"])) \(histogram.count)")
            lines.append("\(series.name)_sum\(Self.braces(series.labels)) \(histogram.sum)")
            lines.append("\(series.name)_count\(Self.braces(series.labels)) \(histogram.count)")
        }
        for reading in readings { lines += ["# TYPE \(reading.name) gauge", "\(reading.name) \(reading.value)"] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func braces(_ labels: [String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = stride(from: 0, to: labels.count, by: 2).map { "\(labels[$0])=\"\(labels[$0 + 1])\"" }
        return "{\(pairs.joined(separator: ","))}"
    }
}

extension Metrics.Histogram {
    fileprivate mutating func record(_ seconds: Double) {
        sum += seconds
        count += 1
        for (index, bound) in Metrics.buckets.enumerated() where seconds <= bound { counts[index] += 1 }
    }
}
