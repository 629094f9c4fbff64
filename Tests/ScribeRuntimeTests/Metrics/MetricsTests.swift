import ScribeRuntime
import Testing

struct MetricsTests {
    @Test("each metric has its help and its type, once, and no text that would need escapes")
    func descriptions() {
        let lines = Metrics().text(readings: []).split(separator: "\n")
        for metric in Metric.allCases {
            #expect(lines.count { $0 == "# HELP \(metric.rawValue) \(metric.help)" } == 1)
            #expect(lines.count { $0 == "# TYPE \(metric.rawValue) \(metric.kind.rawValue)" } == 1)
            #expect(!metric.help.contains { "\\\n|".contains($0) }, "\(metric)")
        }
    }

    @Test("counters, histograms and readings are written with the labels of their metric")
    func samples() {
        let metrics = Metrics()
        metrics.requestServed(method: "GET", route: "/livez", status: 200, seconds: 0.02)
        metrics.connectionOpened()
        metrics.connectionOpened()
        metrics.connectionClosed()
        let readings = [
            MetricReading(.ready, true), MetricReading(.buildInfo, labels: ["0.1.0", "a1b2c3d"], 1),
            MetricReading(.cpuSeconds, 1.25),
        ]
        let lines = Set(metrics.text(readings: readings).split(separator: "\n").map(String.init))
        #expect(
            lines.isSuperset(of: [
                #"scribe_requests_total{method="GET",route="/livez",status="200"} 1"#,
                #"scribe_request_seconds_bucket{method="GET",route="/livez",le="0.005"} 0"#,
                #"scribe_request_seconds_bucket{method="GET",route="/livez",le="0.025"} 1"#,
                #"scribe_request_seconds_bucket{method="GET",route="/livez",le="+Inf"} 1"#,
                #"scribe_request_seconds_sum{method="GET",route="/livez"} 0.02"#,
                #"scribe_request_seconds_count{method="GET",route="/livez"} 1"#,
                "scribe_connections 1", "scribe_ready 1", "process_cpu_seconds_total 1.25",
                #"scribe_build_info{version="0.1.0",commit="a1b2c3d"} 1"#,
            ]))
    }
}
