import Testing

/// Entry point of all tests. SwiftPM takes this file in place of a program of its own, for which it would look for tests
/// of XCTest in an index of the sources. There are none, and so there is no index.
@main
struct XCTMain {
    static func main() async {
        // SwiftPM starts the program once for each testing library.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
