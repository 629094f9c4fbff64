import Foundation

private let fuzzer: @Sendable (Data) -> Void = {
    guard let fuzzer = ProcessInfo.processInfo.environment["FUZZ_TARGET"].flatMap({ fuzzers[$0] }) else {
        fatalError("FUZZ_TARGET must be one of \(fuzzers.keys.sorted().joined(separator: ", "))")
    }
    return fuzzer
}()

/// What libFuzzer calls with every input. Compiled by `scripts/fuzz` alone.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // A copy of its own, for LibFuzzer frees and reuses the bytes.
    fuzzer(bytes.map { Data(bytes: $0, count: count) } ?? Data())
    return 0
}
