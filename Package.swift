// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// Support code of tests declares much of other modules' types: each import would have to be a package import.
let supportSettings = Array(swiftSettings[..<1] + swiftSettings[2...])

// scripts/build optimises the server. Of tests that would cost more than it saves. Only an option of the frontend comes
// after those of the command line.
let unoptimised = SwiftSetting.unsafeFlags(["-Xfrontend", "-Onone"])
let testSettings = swiftSettings + [unoptimised]
let testSupportSettings = supportSettings + [unoptimised]

extension Target.Dependency {
    static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let grdbSQLite = product(name: "GRDBSQLite", package: "GRDB.swift")
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
    static let hummingbirdTesting = product(name: "HummingbirdTesting", package: "hummingbird")
    static let jwtKit = product(name: "JWTKit", package: "jwt-kit")
    static let logging = product(name: "Logging", package: "swift-log")
    static let mustache = product(name: "Mustache", package: "swift-mustache")
    static let nioConcurrencyHelpers = product(name: "NIOConcurrencyHelpers", package: "swift-nio")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioHTTP2 = product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHTTPTypes = product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
    static let nioHTTPCompression = product(name: "NIOHTTPCompression", package: "swift-nio-extras")
    static let nioHTTP2Types = product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioFoundationCompat = product(name: "NIOFoundationCompat", package: "swift-nio")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let nioWebSocket = product(name: "NIOWebSocket", package: "swift-nio")
    static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
    static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let swiftASN1 = product(name: "SwiftASN1", package: "swift-asn1")
    static let subprocess = product(name: "Subprocess", package: "swift-subprocess")
    static let system = product(name: "SystemPackage", package: "swift-system")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let x509 = product(name: "X509", package: "swift-certificates")
    static let yams = product(name: "Yams", package: "Yams")
}

// Imports point down only; docs/architecture.md draws it, and the build refuses what is not named here.
let package = Package(
    name: "scribe-emulator",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "scribe-emulator", targets: ["scribe-emulator"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "WorldBenchmark",
            dependencies: ["ScribeDomain", "ScribeHTTP", "ScribeRuntime", "ScribeServer", .logging],
            path: "Benchmarks/Worlds", swiftSettings: supportSettings),
        .executableTarget(
            name: "scribe-emulator",
            dependencies: [
                "Alliance", "Basics", "Certificates", "Connections", "Console", "DataFolder", "Eka", "Engines",
                "Journal", "Listen", "ObjectStorage", "Omi", "Outbound", "ScribeDomain", "ScribeHTTP", "ScribeRuntime",
                "ScribeServer", "ScribeStore", "Suki", .argumentParser, .asyncHTTPClient, .logging, .nioCore, .nioHTTP1,
                .nioPosix, .nioSSL, .serviceLifecycle, .system, .unixSignals, .yams,
            ],
            swiftSettings: swiftSettings,
            // For packages (scripts/dist): a folder with the libraries that are linked in.
            linkerSettings: Context.environment["SCRIBE_STATIC"].map {
                [
                    .unsafeFlags([
                        "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=all", "-Xlinker", "-z",
                        "-Xlinker", "now", "\($0)/icu.o", "-L", $0,
                    ])
                ]
            } ?? []
        ),
        .target(
            name: "ScribeServer",
            dependencies: [
                "Alliance", "Basics", "BuildDetails", "Certificates", "Connections", "Console", "Control", "DataFolder",
                "Documents", "Eka", "Engines", "Journal", "Listen", "ObjectStorage", "Omi", "Outbound", "S3",
                "ScribeDomain", "ScribeHTTP", "ScribeRuntime", "ScribeStore", "Status", "Suki", .crypto, .hummingbird,
                .hummingbirdCore, .logging, .nioCore, .nioPosix, .nioSSL, .serviceLifecycle, .yams,
            ],
            swiftSettings: swiftSettings
        ),

        // One for each API family: none may see another.
        .target(
            name: "Eka",
            dependencies: [
                "Basics", "Engines", "Journal", "ObjectStorage", "ScribeDomain", "ScribeHTTP", "ScribeRuntime",
                "ScribeStore", .crypto, .httpTypes, .hummingbird, .hummingbirdCore, .logging, .nioCore,
            ],
            path: "Sources/Families/Eka",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Alliance",
            dependencies: [
                "Basics", "Connections", "Engines", "ObjectStorage", "ScribeDomain", "ScribeHTTP", "ScribeRuntime",
                "ScribeStore", .httpTypes, .hummingbird, .hummingbirdCore, .logging, .nioCore,
            ],
            path: "Sources/Families/Alliance",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Lint",
            dependencies: [
                "Basics", "Eka", "Engines", "Journal", "ObjectStorage", "ScribeDomain", "ScribeHTTP", "ScribeRuntime",
                "ScribeStore", .httpTypes, .nioCore,
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Control",
            dependencies: [
                "Basics", "Documents", "Engines", "Journal", "Lint", "ObjectStorage", "ScribeDomain", "ScribeHTTP",
                "ScribeRuntime", "ScribeStore", .httpTypes, .hummingbird, .nioCore,
            ],
            path: "Sources/Families/Control",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Console",
            dependencies: [
                "Basics", "Documents", "Engines", "Journal", "Lint", "ObjectStorage", "ScribeDomain", "ScribeHTTP",
                "ScribeRuntime", "ScribeStore", .crypto, .httpTypes, .hummingbird, .hummingbirdCore, .mustache,
                .nioCore, .nioPosix, .serviceLifecycle,
            ],
            path: "Sources/Families/Console",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Listen",
            dependencies: [
                "Basics", "Connections", "Engines", "Journal", "Outbound", "ScribeDomain", "ScribeHTTP",
                "ScribeRuntime", .crypto, .httpTypes, .hummingbird, .hummingbirdCore, .logging, .nioCore,
                .nioWebSocket,
            ],
            path: "Sources/Families/Listen",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Omi",
            dependencies: [
                "Basics", "Connections", "Engines", "ScribeDomain", "ScribeHTTP", "ScribeRuntime", "ScribeStore",
                .httpTypes, .hummingbird, .hummingbirdCore, .logging, .nioCore,
            ],
            path: "Sources/Families/Omi",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "S3",
            dependencies: [
                "Basics", "Engines", "ObjectStorage", "ScribeDomain", "ScribeHTTP", "ScribeRuntime", "ScribeStore",
                .crypto, .httpTypes, .hummingbird, .logging, .nioCore,
            ],
            path: "Sources/Families/S3",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Suki",
            dependencies: [
                "Basics", "Connections", "Engines", "ObjectStorage", "Outbound", "ScribeDomain", "ScribeHTTP",
                "ScribeRuntime", "ScribeStore", .crypto, .cryptoExtras, .httpTypes, .hummingbird, .hummingbirdCore,
                .jwtKit, .nioCore,
            ],
            path: "Sources/Families/Suki",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Status",
            dependencies: [
                "Basics", "Documents", "Engines", "ObjectStorage", "ScribeDomain", "ScribeHTTP", "ScribeRuntime",
                "ScribeStore", .httpTypes, .hummingbird, .nioCore, .nioPosix,
            ],
            path: "Sources/Families/Status",
            swiftSettings: swiftSettings
        ),

        .target(
            name: "ScribeHTTP",
            dependencies: [
                "Basics", "Connections", "Documents", "Engines", "Journal", "Outbound", "ScribeDomain", "ScribeRuntime",
                "ScribeStore", .crypto, .httpTypes, .hummingbird, .hummingbirdCore, .jwtKit, .logging, .nioCore,
                .nioEmbedded, .nioHTTP1, .nioHTTP2, .nioHTTPCompression, .serviceLifecycle,
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "ScribeRuntime",
            dependencies: [
                "Basics", "Engines", "Journal", "ObjectStorage", "Outbound", "ScribeDomain", "ScribeStore", .crypto,
                .logging, .nioCore, .nioPosix, .serviceLifecycle,
            ],
            swiftSettings: swiftSettings
        ),
        // The folder of a server on one machine: its states, keys and locks, and their backups.
        .target(
            name: "DataFolder",
            dependencies: [
                "Basics", "ObjectStorage", "ScribeDomain", "ScribeStore", .nioPosix, .system,
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "ScribeStore",
            dependencies: [
                "Basics", "ObjectStorage", "SQLiteMemory", "ScribeDomain", .crypto, .grdb, .grdbSQLite, .nioCore,
                .nioPosix, .system,
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Engines",
            dependencies: [
                "Basics", "Documents", "Outbound", "ScribeDomain", .asyncHTTPClient, .crypto, .nioCore,
                .nioFoundationCompat, .nioHTTP1, .nioPosix, .nioSSL, .nioTLS, .nioWebSocket, .subprocess, .system,
            ],
            exclude: ["Conversations/urgency.txt", "Language/lexicon", "Language/voice.txt"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Certificates",
            dependencies: [
                "Basics", .crypto, .logging, .nioCore, .nioPosix, .nioSSL, .serviceLifecycle, .swiftASN1, .x509,
            ],
            swiftSettings: swiftSettings
        ),
        // Sockets to requests: pipelines, guards, TLS, HTTP/2, frames of WebSockets; knows no family and no world.
        .target(
            name: "Connections",
            dependencies: [
                "Basics", .httpTypes, .hummingbirdCore, .logging, .nioCore, .nioHTTP1, .nioHTTP2, .nioHTTP2Types,
                .nioHTTPTypes, .nioPosix, .nioSSL, .nioTLS,
            ],
            swiftSettings: swiftSettings
        ),
        // Records of requests and deliveries, and what they hide.
        .target(
            name: "Journal",
            dependencies: ["Basics", "Outbound", "ScribeDomain", .crypto, .httpTypes, .nioCore],
            swiftSettings: swiftSettings
        ),
        // Calls to addresses that clients name.
        .target(
            name: "Outbound",
            dependencies: [
                "Basics", "ScribeDomain", .asyncHTTPClient, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .nioWebSocket,
            ],
            swiftSettings: swiftSettings
        ),
        // The bytes of uploads, in files or in S3.
        .target(
            name: "ObjectStorage",
            dependencies: [
                "Basics", "CyclicChecksum", "ScribeDomain", .asyncHTTPClient, .crypto, .nioCore, .nioHTTP1, .nioPosix,
                .system,
            ],
            swiftSettings: swiftSettings
        ),
        .target(name: "ScribeDomain", dependencies: ["Basics"], swiftSettings: swiftSettings),
        // What any server could use: text, JSON, time, concurrency, the platform.
        .target(name: "Basics", dependencies: [.system], swiftSettings: swiftSettings),
        // The documents that the server serves and the data that it begins with, as bytes.
        .target(name: "Documents", cSettings: [.unsafeFlags(["-Wno-c23-extensions"])]),
        // A checksum by instructions of the processor that Swift has no name for.
        .target(name: "CyclicChecksum"),
        // A setting of SQLite whose function Swift cannot call.
        .target(name: "SQLiteMemory"),
        // Packages say what they were built from: SCRIBE_BUILD="$(git log -1 --format='%h, %cs')".
        .target(
            name: "BuildDetails",
            cSettings: [.define("SCRIBE_BUILD", to: "\"\(Context.environment["SCRIBE_BUILD"] ?? "")\"")]),

        .target(
            name: "TestSupport",
            dependencies: ["Basics", "ObjectStorage", "ScribeDomain", "ScribeStore"],
            path: "Tests/TestSupport",
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ConnectionsTests",
            dependencies: [
                "Basics", "Connections", "ServerTestSupport", .httpTypes, .hummingbirdCore, .logging, .nioCore,
                .nioEmbedded,
                .nioHTTP1, .nioHTTP2, .nioHTTPTypes, .nioPosix,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "JournalTests",
            dependencies: ["Basics", "Journal", "TestSupport", .httpTypes, .nioCore],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "OutboundTests",
            dependencies: [
                "Basics", "Outbound", "ScribeDomain", "TestSupport", .nioCore, .nioHTTP1, .nioPosix,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "BasicsTests",
            dependencies: ["Basics", "ScribeDomain", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ScribeDomainTests",
            dependencies: ["Basics", "ScribeDomain", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "CertificatesTests",
            dependencies: [
                "Basics", "Certificates", "TestSupport", .logging, .nioPosix,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "EnginesTests",
            dependencies: [
                "Basics", "Certificates", "Engines", "Outbound", "ScribeDomain", "TestSupport", .crypto, .nioCore,
                .nioHTTP1, .nioPosix, .nioSSL, .nioWebSocket, .yams,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ObjectStorageTests",
            dependencies: ["Basics", "ObjectStorage", "TestSupport", .crypto, .nioCore, .nioPosix],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "DataFolderTests",
            dependencies: [
                "Basics", "DataFolder", "ObjectStorage", "ScribeDomain", "ScribeStore", "TestSupport", .crypto, .grdb,
                .nioCore, .nioPosix,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ScribeStoreTests",
            dependencies: [
                "Basics", "ObjectStorage", "ScribeDomain", "ScribeStore", "TestSupport", .grdb, .grdbSQLite, .nioCore,
                .nioPosix,
            ],
            exclude: ["Database/writes.txt"],
            swiftSettings: testSettings
        ),
        // The use cases on a store of their own, for the tests of the runtime and of families that have use cases.
        .target(
            name: "RuntimeTestSupport",
            dependencies: [
                "Basics", "Engines", "ObjectStorage", "Outbound", "ScribeDomain", "ScribeRuntime", "ScribeStore",
                "TestSupport", .nioCore, .nioPosix,
            ],
            path: "Tests/RuntimeTestSupport",
            swiftSettings: testSupportSettings
        ),
        .testTarget(
            name: "ScribeRuntimeTests",
            dependencies: [
                "Basics", "Engines", "ObjectStorage", "Outbound", "RuntimeTestSupport", "ScribeDomain", "ScribeRuntime",
                "ScribeStore", "TestSupport", .grdb, .logging, .nioCore, .nioPosix,
            ],
            swiftSettings: testSettings
        ),
        // What tests of a running server share. One test target for each family: an edit rebuilds that family's tests.
        .target(
            name: "ServerTestSupport",
            dependencies: [
                "Basics", "Connections", "Control", "Eka", "Engines", "S3", "ScribeHTTP", "ScribeServer", "Status",
                "Suki", "TestSupport", .crypto, .httpTypes, .hummingbird, .hummingbirdTesting, .logging, .nioCore,
                .nioPosix, .nioSSL, .serviceLifecycle, .yams,
            ],
            path: "Tests/ServerTestSupport",
            swiftSettings: testSupportSettings
        ),
        .testTarget(
            name: "AllianceTests",
            dependencies: [
                "Alliance", "Basics", "Connections", "Eka", "Engines", "Listen", "RuntimeTestSupport", "ScribeDomain",
                "ScribeHTTP", "ScribeRuntime", "ScribeServer", "ScribeStore", "ServerTestSupport", "TestSupport",
                .httpTypes, .hummingbirdCore, .nioCore,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ConsoleTests",
            dependencies: [
                "Basics", "Console", "Documents", "Engines", "Journal", "ScribeDomain", "ScribeHTTP", "ScribeRuntime",
                "ScribeServer", "ServerTestSupport", "TestSupport", .httpTypes, .hummingbird, .nioCore,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "LintTests",
            dependencies: [
                "Alliance", "Basics", "Eka", "Journal", "Lint", "ScribeDomain", "ScribeHTTP", "ScribeRuntime",
                "ScribeServer", "ServerTestSupport", "TestSupport", .httpTypes, .nioCore,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "Basics", "Engines", "Journal", "Outbound", "ScribeHTTP", "ScribeRuntime", "ScribeServer",
                "ServerTestSupport", "TestSupport", .httpTypes, .hummingbirdTesting,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "EkaClientTests",
            dependencies: [
                "Basics", "Eka", "Engines", "S3", "ScribeDomain", "ScribeHTTP", "ScribeServer", "ServerTestSupport",
                "TestSupport", .crypto, .httpTypes,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "EkaTests",
            dependencies: [
                "Basics", "Eka", "S3", "ScribeDomain", "ScribeHTTP", "ScribeRuntime", "ScribeServer", "ScribeStore",
                "ServerTestSupport", "TestSupport", .httpTypes, .jwtKit, .nioConcurrencyHelpers,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ListenTests",
            dependencies: [
                "Basics", "Engines", "Listen", "ScribeDomain", "ScribeHTTP", "ScribeServer", "ServerTestSupport",
                "TestSupport", .httpTypes, .hummingbirdCore, .hummingbirdTesting, .nioCore,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "OmiTests",
            dependencies: [
                "Omi", "ScribeDomain", "ScribeHTTP", "ScribeServer", "ServerTestSupport", "TestSupport", .httpTypes,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "S3Tests",
            dependencies: [
                "Basics", "Eka", "S3", "ScribeHTTP", "ScribeServer", "ServerTestSupport", "TestSupport", .crypto,
                .httpTypes, .nioCore,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ScribeHTTPTests",
            dependencies: [
                "Basics", "Certificates", "Eka", "Engines", "Journal", "Outbound", "S3", "ScribeDomain", "ScribeHTTP",
                "ScribeServer", "ServerTestSupport", "TestSupport", .crypto, .httpTypes, .hummingbird,
                .hummingbirdTesting, .logging, .nioCore, .nioEmbedded,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "ScribeServerTests",
            dependencies: [
                "Alliance", "Basics", "Control", "DataFolder", "Eka", "Engines", "Listen", "ObjectStorage", "Omi",
                "Outbound", "S3", "ScribeDomain", "ScribeHTTP", "ScribeRuntime", "ScribeServer", "ScribeStore",
                "ServerTestSupport", "Status", "Suki", "TestSupport", .crypto, .httpTypes, .hummingbird,
                .hummingbirdCore, .hummingbirdTesting, .logging, .nioCore, .nioEmbedded, .nioPosix, .serviceLifecycle,
                .yams,
            ],
            exclude: ["errors.txt"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "SukiTests",
            dependencies: [
                "Basics", "Connections", "Engines", "Listen", "RuntimeTestSupport", "ScribeDomain", "ScribeHTTP",
                "ScribeRuntime", "ScribeServer", "ScribeStore", "ServerTestSupport", "Suki", "TestSupport",
                .cryptoExtras, .httpTypes, .jwtKit, .nioCore,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "Basics", "Console", "Eka", "Engines", "scribe-emulator", "ScribeDomain", "ScribeRuntime",
                "ScribeServer", "TestSupport",
                .argumentParser, .logging,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "Basics", "Connections", "Eka", "Engines", "Listen", "Omi", "S3", "ScribeDomain", "ScribeHTTP",
                "ScribeRuntime", "ScribeStore", "Suki", .crypto, .hummingbirdCore, .nioCore,
            ],
            path: "Fuzz",
            exclude: ["LibFuzzer.swift", "corpus", "dictionaries"],
            swiftSettings: testSettings
        ),
    ]
)
