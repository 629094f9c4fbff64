import Basics

/// Counters and histograms for Prometheus. Labels are routes, fixed words and numbers, never text from a client.
package final class Metrics: Sendable {
    /// One time series: a metric with the values of its labels.
    private struct Series: Hashable {
        let metric: Metric
        let labels: [String]
    }

    fileprivate struct Histogram {
        var counts = [Int](repeating: 0, count: Metrics.buckets.count)
        var sum = 0.0
        var count = 0
    }

    /// The answers of a route to a method.
    private struct Route: Hashable {
        let method: String
        let pattern: String

        var labels: [String] { [method, pattern] }
    }

    private struct Answers {
        var statuses: [Int: Int] = [:]
        var seconds = Histogram()

        mutating func count(_ status: Int, _ seconds: Double) {
            statuses[status, default: 0] += 1
            self.seconds.record(seconds)
        }
    }

    private struct State {
        var answers: [Route: Answers] = [:]
        var counters: [Series: Int] = [:]
        var connections = 0
        var histograms: [Series: Histogram] = [:]
    }

    /// The upper bounds of histogram buckets in seconds, from a cached answer to a held poll and a slow recogniser.
    fileprivate static let buckets = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 30, 120]

    private let state = LockedValue(State())

    package init() {}

    package func requestServed(method: String, route: String, status: Int, seconds: Double) {
        let route = Route(method: method, pattern: route)
        state.withLock { state in
            state.answers[route, default: Answers()].count(status, seconds)
        }
    }

    /// Counts a recognition.
    /// - Parameter outcome: `success` or the code of the failure.
    package func chunkTranscribed(by transcriber: String, outcome: String, seconds: Double) {
        state.withLock { state in
            state.counters[Series(metric: .chunks, labels: [transcriber, outcome]), default: 0] += 1
            let timed = Series(metric: .transcriptionSeconds, labels: [transcriber])
            state.histograms[timed, default: .init()].record(seconds)
        }
    }

    /// Counts a note.
    /// - Parameter outcome: `success` or the code of the failure.
    package func noteWritten(by writer: String, outcome: String, seconds: Double) {
        state.withLock { state in
            state.counters[Series(metric: .notes, labels: [writer, outcome]), default: 0] += 1
            state.histograms[Series(metric: .noteSeconds, labels: [writer]), default: .init()].record(seconds)
        }
    }

    /// Counts segments of a device's conversation.
    /// - Parameter source: The way they came: `edge_asr`, `suggested`, `audio` or `call`.
    package func segmentsAdded(_ count: Int, from source: String) {
        let series = Series(metric: .segments, labels: [source])
        state.withLock { $0.counters[series, default: 0] += count }
    }

    /// Counts a processed transaction.
    /// - Parameter outcome: Its final processing status.
    package func transactionProcessed(outcome: String) {
        let series = Series(metric: .transactions, labels: [outcome])
        state.withLock { $0.counters[series, default: 0] += 1 }
    }

    /// Counts an attempt at a delivery.
    /// - Parameters:
    ///   - style: The style of the registration, or `callback`.
    ///   - settlement: `delivered`, `retried` or `failed`.
    package func deliverySettled(style: String, settlement: String) {
        let series = Series(metric: .deliveries, labels: [style, settlement])
        state.withLock { $0.counters[series, default: 0] += 1 }
    }

    package func connectionOpened() { state.withLock { $0.connections += 1 } }
    package func connectionClosed() { state.withLock { $0.connections -= 1 } }

    /// All metrics in Prometheus' text format. A metric without a value yet has only `# HELP` and `# TYPE`.
    /// - Parameter readings: Further values, which the caller read for this answer.
    package func text(readings: [MetricReading]) -> String {
        var state = state.withLock { $0 }
        for (route, answers) in state.answers {
            for (status, count) in answers.statuses {
                state.counters[Series(metric: .requests, labels: route.labels + [String(status)])] = count
            }
            state.histograms[Series(metric: .requestSeconds, labels: route.labels)] = answers.seconds
        }
        let readings =
            readings + [MetricReading(.connections, state.connections)]
            + state.counters.map { MetricReading($0.key.metric, labels: $0.key.labels, $0.value) }
        let values = Dictionary(grouping: readings, by: \.metric)
        let histograms = Dictionary(grouping: state.histograms, by: \.key.metric)
        var lines: [String] = []
        for metric in Metric.allCases {
            lines += ["# HELP \(metric.rawValue) \(metric.help)", "# TYPE \(metric.rawValue) \(metric.kind.rawValue)"]
            for reading in (values[metric] ?? []).sorted(by: { $0.labels.lexicographicallyPrecedes($1.labels) }) {
                lines.append(Self.line(metric, labels: reading.labels, Self.text(of: reading.value)))
            }
            let timed = (histograms[metric] ?? [])
                .sorted { $0.key.labels.lexicographicallyPrecedes($1.key.labels) }
            for (series, histogram) in timed {
                for (bound, count) in zip(Self.buckets, histogram.counts) {
                    lines.append(Self.line(metric, "_bucket", labels: series.labels, le: "\(bound)", "\(count)"))
                }
                lines += [
                    Self.line(metric, "_bucket", labels: series.labels, le: "+Inf", "\(histogram.count)"),
                    Self.line(metric, "_sum", labels: series.labels, "\(histogram.sum)"),
                    Self.line(metric, "_count", labels: series.labels, "\(histogram.count)"),
                ]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A line of output.
    /// - Parameter le: The upper bound of a bucket, in seconds.
    private static func line(
        _ metric: Metric, _ suffix: String = "", labels: [String], le: String? = nil, _ value: String
    ) -> String {
        var pairs = zip(metric.labels, labels).map { (name: $0, value: $1) }
        if let le { pairs.append((name: "le", value: le)) }
        let names = pairs.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
        return "\(metric.rawValue)\(suffix)\(names.isEmpty ? "" : "{\(names)}") \(value)"
    }

    /// A value as text, without a fraction if it is whole: `1`, not `1.0`.
    private static func text(of value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }
}

extension Metrics.Histogram {
    fileprivate mutating func record(_ seconds: Double) {
        sum += seconds
        count += 1
        for (index, bound) in Metrics.buckets.enumerated() where seconds <= bound { counts[index] += 1 }
    }
}
