import Dispatch
import Testing

/// Entry point of all tests. SwiftPM takes this file in place of a program of its own, for which it would look for
/// tests of XCTest in an index of the sources. There are none, and so there is no index.
@main
struct XCTMain {
    // Not `async`: the symbol of such a function is that of the command's own, which is linked in.
    static func main() {
        // SwiftPM starts the program once for each testing library.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        Task { await Testing.__swiftPMEntryPoint() as Never }
        dispatchMain()
    }
}
