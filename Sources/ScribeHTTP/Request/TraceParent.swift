/// Parses a `traceparent` header of W3C Trace Context: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
///
/// Log lines carry the trace id, so that a client's trace leads to them.
package struct TraceParent: Hashable, Sendable {
    /// Trace id: 32 lower-case hex digits, not all zero.
    package let traceID: String

    /// Parses the header's value of 55 characters; nil for any other text.
    ///
    /// The parts are version (not `ff`), trace, parent and flags, in lower-case hex digits with `-` between. Neither
    /// trace nor parent may be all zeros.
    package init?(_ text: String) {
        let parts = text.utf8.count == 55 ? text.split(separator: "-", omittingEmptySubsequences: false) : []
        guard parts.map(\.utf8.count) == [2, 32, 16, 2], parts.allSatisfy({ $0.utf8.allSatisfy(Self.isHex) }),
            parts[0] != "ff", parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        traceID = String(parts[1])
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
