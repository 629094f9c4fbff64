import Foundation

/// One fuzzer for each kind of bytes that strangers send. `scripts/fuzz` runs them.
private let fuzzers: [String: @Sendable (Data) -> Void] = [
    "audio": fuzzAudio, "chunked": fuzzChunkedBody, "form": fuzzForm, "json": fuzzJSON, "notes": fuzzNotes,
    "s3": fuzzS3Request,
]

private let fuzzer: @Sendable (Data) -> Void = {
    guard let fuzzer = ProcessInfo.processInfo.environment["FUZZ_TARGET"].flatMap({ fuzzers[$0] }) else {
        fatalError("FUZZ_TARGET must be one of \(fuzzers.keys.sorted().joined(separator: ", "))")
    }
    return fuzzer
}()

/// What libFuzzer calls with every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // A copy of its own, for LibFuzzer frees and reuses the bytes.
    fuzzer(bytes.map { Data(bytes: $0, count: count) } ?? Data())
    return 0
}

/// Crashes, which is how a fuzzer is told of a mistake, unless `condition` holds.
func require(_ condition: Bool, _ claim: String, file: StaticString = #fileID, line: UInt = #line) {
    guard condition else { fatalError("does not hold: \(claim)", file: file, line: line) }
}

extension String {
    /// Swift takes texts for equal that differ in bytes, such as the two spellings of "é". S3 does not.
    func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
