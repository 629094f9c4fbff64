import Foundation

/// One fuzzer for each kind of bytes that strangers send. `scripts/fuzz` runs them for long, the tests briefly.
let fuzzers: [String: @Sendable (Data) -> Void] = [
    "audio": fuzzAudio, "chunked": fuzzChunkedBody, "form": fuzzForm, "json": fuzzJSON, "notes": fuzzNotes,
    "s3": fuzzS3Request, "websocket": fuzzWebSocket, "words": fuzzWords,
]

/// Crashes, which is how a fuzzer is told of a mistake, unless `condition` holds.
func require(_ condition: Bool, _ claim: String, file: StaticString = #fileID, line: UInt = #line) {
    guard condition else { fatalError("does not hold: \(claim)", file: file, line: line) }
}

extension String {
    /// Swift takes texts for equal that differ in bytes, such as the two spellings of "é". S3 does not.
    func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
