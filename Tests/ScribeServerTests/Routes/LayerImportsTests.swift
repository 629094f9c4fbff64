import Foundation
import TestSupport
import Testing

/// What the layers may import; the drawing in docs/architecture.md shows why.
struct LayerImportsTests {
    private static let layers: [String: Set<String>] = [
        "Basics": [],
        "ScribeDomain": ["Basics"],
        "Outbound": ["Basics", "ScribeDomain"],
        "Connections": ["Basics"],
        "Journal": ["Basics", "Outbound", "ScribeDomain"],
        "ScribeStore": ["Basics", "ScribeDomain"],
        "Engines": ["Basics", "Documents", "Outbound", "ScribeDomain"],
        "ScribeRuntime": ["Basics", "Engines", "Journal", "Outbound", "ScribeDomain", "ScribeStore"],
    ]
    private static let ours = Set(layers.keys).union([
        "BuildDetails", "Certificates", "Documents", "ScribeHTTP", "ScribeServer", "Alliance", "Console", "Control",
        "Eka", "Listen", "Omi", "S3", "Status", "Suki",
    ])

    private static func imports(of target: String) throws -> Set<String> {
        let folder = projectFile("Sources/\(target)")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(!paths.isEmpty)
        return try paths.reduce(into: []) { found, path in
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            for line in text.split(separator: "\n") {
                if let module = line.wholeMatch(of: /(?:package |public )?import (\w+)/) {
                    found.insert(String(module.1))
                }
            }
        }
    }

    @Test("a layer imports the modules that it stands on, and no others of ours", arguments: layers.keys.sorted())
    func modules(layer: String) throws {
        #expect(try Self.imports(of: layer).intersection(Self.ours) == Self.layers[layer])
    }

    @Test("the domain and what is below it have no I/O, and the use cases no HTTP")
    func libraries() throws {
        let pure: Set = ["Basics", "Foundation"]
        #expect(try Self.imports(of: "ScribeDomain") == pure)
        #expect(
            try Self.imports(of: "Basics").isSubset(of: ["Darwin", "Foundation", "Glibc", "Musl", "Synchronization"]))
        let runtime = try Self.imports(of: "ScribeRuntime")
        #expect(runtime.allSatisfy { !$0.contains("HTTP") && $0 != "Hummingbird" }, "\(runtime)")
    }
}
