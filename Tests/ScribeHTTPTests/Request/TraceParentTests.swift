import ScribeHTTP
import Testing

struct TraceParentTests {
    static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    static let parent = "00f067aa0ba902b7"

    @Test("a traceparent header of 55 characters gives the trace id", arguments: ["00", "01", "cc"])
    func valid(version: String) {
        #expect(TraceParent("\(version)-\(Self.trace)-\(Self.parent)-01")?.traceID == Self.trace)
    }

    @Test(
        "an invalid traceparent header is ignored",
        arguments: [
            "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-01-more", "ff-\(trace)-\(parent)-01",
            "00-\(String(repeating: "0", count: 32))-\(parent)-01",
            "00-\(trace)-\(String(repeating: "0", count: 16))-01",
            "00-\(trace.uppercased())-\(parent)-01", "00-\(trace)-\(parent)-0g", "00_\(trace)_\(parent)_01",
            "00-\(parent)-\(trace)-01", "00-\(trace)-\(parent)0-1",
        ])
    func invalid(header: String) {
        #expect(TraceParent(header) == nil)
    }
}
