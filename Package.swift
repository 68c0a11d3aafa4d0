// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode, strict memory safety, no warning survives.
let settings: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Of what is pure: tests have it compute for minutes, which takes twelve times as long without the optimiser. So it is
/// optimised in debug builds, too, each target as a whole.
let pure =
    settings + [
        .unsafeFlags(
            ["-O", "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "4"],
            .when(configuration: .debug)
        )
    ]

/// Of what lends memory whose lifetime the compiler is to know, and lives at an address (`Pinned`).
let lending = pure + [.enableExperimentalFeature("Lifetimes"), .enableExperimentalFeature("RawLayout")]

let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let containers: Target.Dependency = .product(name: "BasicContainers", package: "swift-collections")
let heap: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
/// Only with the trait: a build without it needs no libnats.
let cNATS: Target.Dependency = .target(name: "CNATS", condition: .when(traits: ["JetStream"]))
let journalJetStream: Target.Dependency = .target(name: "JournalJetStream", condition: .when(traits: ["JetStream"]))
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

/// A target of the product: its sources are in `Sources/<name>`.
func product(
    _ name: String,
    _ dependencies: [Target.Dependency] = [],
    settings: [SwiftSetting] = settings,
    plugins: [Target.PluginUsage] = []
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings, plugins: plugins)
}

/// A suite: its sources are in `Tests/<name>`.
func suite(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

// The order is the data's path, from the C libraries at the bottom to the program at the top.
// `Tests/TidyTests` holds the sources to these arrows; the compiler does not.
let package = Package(
    name: "freshet",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .executable(name: "freshet", targets: ["FreshetCLI"]),
        .library(name: "FreshetClient", targets: ["FreshetClient"]),
    ],
    traits: [
        .trait(name: "JetStream", description: "The log may be on NATS JetStream. Needs libnats."),
        .default(enabledTraits: ["JetStream"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
    ],
    targets: [
        // C libraries.
        .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CTimex"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CICUData"),
        .target(name: "CKernels"),
        .target(name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),

        // Pure: values in, values out.
        product("WidgetModel", settings: pure),
        product("Storage", ["CKernels", "WidgetModel", containers], settings: lending),
        product("IntentMatching", ["Storage", "WidgetModel", containers], settings: lending),
        product("Timelines", ["Storage", "WidgetModel"], settings: pure),
        product(
            "Engine",
            ["IntentMatching", "Storage", "Timelines", "WidgetModel", containers, deque],
            settings: pure
        ),
        product("APNSWire", ["CSimdjson", "Storage", "WidgetModel"], settings: pure),
        product("Journaling", ["CKernels", "WidgetModel"], settings: pure),
        product("JournalStreams", ["Journaling", "WidgetModel"], settings: pure),
        product(
            "Ownership",
            ["APNSWire", "Engine", "IntentMatching", "Journaling", "WidgetModel", heap],
            settings: pure
        ),
        product("TimelineProviding", ["Engine", "Ownership", "Timelines", "WidgetModel", heap], settings: pure),
        product(
            "History",
            ["Engine", "IntentMatching", "Journaling", "Ownership", "Timelines", "WidgetModel"],
            settings: pure
        ),
        product("Clustering", ["WidgetModel"], settings: pure),
        product("Telemetry", ["WidgetModel", metrics, tracing], settings: pure),
        product("Scenarios", ["WidgetModel", yams], settings: pure),

        // Protocols without sockets.
        product("TLS", ["COpenSSL"]),
        product("HTTP2", ["CNghttp2"]),

        // I/O.
        product("HTTPTransport", ["CZlib", "HTTP2", "TLS", "WidgetModel", logging, nioCore, nioHTTP1, nioPosix]),
        product("WorkerThreads", ["Journaling"]),
        product(
            "JournalJetStream",
            ["Clustering", "JournalStreams", "Journaling", "WidgetModel", "WorkerThreads", cNATS]
        ),
        product("JournalSQLite", ["CSQLite", "Journaling", "WidgetModel", "WorkerThreads"]),

        // The dashboard page: its files become part of the program, so that it is whole wherever it is run.
        .target(name: "DashboardPage", exclude: ["Page"], swiftSettings: settings, plugins: ["EmbedText"]),

        // The page of a report, made of its files and some of the dashboard's.
        .target(
            name: "ReportPages",
            dependencies: ["DashboardPage"],
            exclude: ["Page"],
            swiftSettings: settings,
            plugins: ["EmbedText"]
        ),

        // Composition, and the program.
        product(
            "Simulation",
            [
                "APNSWire", "Engine", "History", "IntentMatching", "JournalStreams", "Journaling", "Ownership",
                "ReportPages", "Scenarios", "TimelineProviding", "Timelines", "WidgetModel", heap,
            ],
            settings: pure
        ),
        // The gateway. What several of its edges need is below them.
        product(
            "Settings",
            [
                "APNSWire", "Engine", "HTTP2", "HTTPTransport", "IntentMatching", "Journaling", "Ownership",
                "TimelineProviding", "Timelines", "WidgetModel", nioCore, yams,
            ],
            plugins: ["EmbedText"]
        ),
        product(
            "Partitions",
            [
                "APNSWire", "Clustering", "Engine", "HTTP2", "HTTPTransport", "History", "IntentMatching", "Journaling",
                "Ownership", "Settings", "TLS", "Telemetry", "WidgetModel", logging, metrics, nioCore, nioPosix,
                system, tracing,
            ],
            settings: lending
        ),
        product(
            "Serving",
            [
                "APNSWire", "Engine", "HTTPTransport", "History", "IntentMatching", "Journaling", "Ownership",
                "Partitions", "Settings", "TLS", "TimelineProviding", "Timelines", "WidgetModel", nioCore, nioPosix,
            ],
            settings: lending
        ),
        product(
            "Ingest",
            [
                "APNSWire", "Engine", "HTTP2", "HTTPTransport", "IntentMatching", "Journaling", "Ownership",
                "Partitions", "Serving", "Storage", "TLS", "WidgetModel", nioCore,
            ],
            settings: lending
        ),
        product(
            "HostAPI",
            [
                "APNSWire", "Engine", "HTTPTransport", "IntentMatching", "Partitions", "Serving", "TimelineProviding",
                "Timelines", "WidgetModel",
            ]
        ),
        product(
            "OperatorAPI",
            [
                "APNSWire", "Clustering", "DashboardPage", "Engine", "HTTP2", "HTTPTransport", "History",
                "IntentMatching", "Journaling", "Ownership", "Partitions", "Serving", "Settings", "TLS", "Telemetry",
                "TimelineProviding", "Timelines", "WidgetModel", logging, metrics, nioCore, nioPosix,
            ],
            plugins: ["EmbedText"]
        ),
        product(
            "Delivery",
            [
                "APNSWire", "Engine", "HTTPTransport", "IntentMatching", "Journaling", "Ownership", "Partitions",
                "Serving", "Settings", "TLS", "TimelineProviding", "Timelines", "WidgetModel", logging, metrics,
                nioCore, nioPosix,
            ]
        ),
        product(
            "Gateway",
            [
                "APNSWire", "Clustering", "Delivery", "Engine", "HTTP2", "HTTPTransport", "History", "HostAPI",
                "Ingest",
                "Journaling", "OperatorAPI", "Ownership", "Partitions", "Serving", "Settings", "TLS", "Telemetry",
                "Timelines", "WidgetModel", lifecycle, logging, metrics, nioCore, nioPosix,
            ]
        ),
        // Makes constants of text files.
        .plugin(name: "EmbedText", capability: .buildTool(), path: "Sources/EmbedText"),
        product(
            "LoadGenerator",
            [
                "APNSWire", "HTTP2", "HTTPTransport", "ReportPages", "Scenarios", "TLS", "WidgetModel", deque,
                histogram,
                logging, nioCore, nioPosix,
            ]
        ),
        .executableTarget(
            name: "FreshetCLI",
            dependencies: [
                "APNSWire", "CICUData", "CTimex", "Clustering", "Delivery", "Engine", "Gateway", "HTTPTransport",
                "History",
                "HostAPI",
                "JournalSQLite", "Journaling", "LoadGenerator", "OperatorAPI", "Ownership",
                "Partitions", "ReportPages", "Scenarios", "Serving", "Settings", "Simulation", "TLS", "Telemetry",
                "WidgetModel",
                argumentParser, journalJetStream, lifecycle, logging, metrics, nioCore, nioPosix, unixSignals,
            ],
            swiftSettings: settings
        ),

        // For programs of others: senders and hosts in Swift. It depends on nothing.
        product("FreshetClient"),
        .executableTarget(
            name: "Scoreboard",
            dependencies: ["FreshetClient"],
            path: "docs/examples/client-swift",
            swiftSettings: settings
        ),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: ["WidgetModel"],
            path: "Tests/Support",
            swiftSettings: settings
        ),
        .target(
            name: "TransportSupport",
            dependencies: ["HTTP2", "HTTPTransport", logging],
            path: "Tests/TransportSupport",
            swiftSettings: settings
        ),
        // Processes of nats-server.
        .target(
            name: "BrokerSupport",
            path: "Tests/BrokerSupport",
            swiftSettings: settings
        ),
        // What every journal must do, for the suites of those that there are.
        .target(
            name: "JournalContract",
            dependencies: ["Journaling", "TestSupport", "WidgetModel"],
            path: "Tests/JournalContract",
            swiftSettings: settings
        ),
        suite("WidgetModelTests", ["WidgetModel", "TestSupport"]),
        suite("ClusteringTests", ["Clustering", "WidgetModel", "TestSupport"]),
        suite("StorageTests", ["Storage", "WidgetModel", "TestSupport"]),
        suite("IntentMatchingTests", ["IntentMatching", "Storage", "WidgetModel", "TestSupport", containers]),
        suite("TimelinesTests", ["Storage", "Timelines", "WidgetModel", "TestSupport"]),
        suite(
            "EngineTests",
            ["Engine", "History", "IntentMatching", "Journaling", "Storage", "Timelines", "WidgetModel", "TestSupport"]
        ),
        suite(
            "TimelineProvidingTests",
            ["TimelineProviding", "Engine", "IntentMatching", "Ownership", "Timelines", "WidgetModel", "TestSupport"]
        ),
        suite("APNSWireTests", ["APNSWire", "WidgetModel", "TestSupport"]),
        suite("TLSTests", ["TLS", "TestSupport"]),
        suite("HTTP2Tests", ["HTTP2", "TestSupport"]),
        .target(
            name: "ScriptedServer",
            dependencies: ["HTTP2", "TLS", nioCore, nioPosix],
            path: "Tests/ScriptedServer",
            swiftSettings: settings
        ),
        suite(
            "HTTPTransportTests",
            [
                "HTTPTransport", "HTTP2", "TLS", "ScriptedServer", "TestSupport", "TransportSupport", logging, nioCore,
                nioEmbedded, nioPosix,
            ]
        ),
        suite("TelemetryTests", ["Telemetry", "WidgetModel", metrics, tracing]),
        suite("JournalingTests", ["Journaling", "WidgetModel", "TestSupport"]),
        suite(
            "HistoryTests",
            [
                "APNSWire", "CSQLite", "Engine", "FreshetCLI", "History", "IntentMatching", "JournalSQLite",
                "Journaling", "Ownership", "Simulation", "TestSupport", "Timelines", "WidgetModel", containers,
            ]
        ),
        suite("JournalStreamsTests", ["JournalStreams", "Journaling", "WidgetModel"]),
        suite(
            "JournalJetStreamTests",
            [
                "BrokerSupport", "Clustering", "JournalContract", "JournalStreams", "Journaling", "TLS", "TestSupport",
                "WidgetModel", journalJetStream,
            ]
        ),
        suite(
            "JournalSQLiteTests",
            [
                "CSQLite", "JournalContract", "JournalSQLite", "Journaling", "WidgetModel", "TestSupport",
                "JournalCrasher",
            ]
        ),
        .executableTarget(
            name: "JournalCrasher",
            dependencies: ["JournalSQLite", "Journaling", "WidgetModel"],
            path: "Tests/Fixtures/JournalCrasher",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RulesRewriter",
            dependencies: ["JournalSQLite", "Journaling", "WidgetModel"],
            path: "Tests/Fixtures/RulesRewriter",
            swiftSettings: settings
        ),
        // Linked into a program, it can end it at any call that writes.
        .target(name: "CrashPoints", path: "Tests/Fixtures/CrashPoints"),
        .executableTarget(
            name: "OwnerCrasher",
            dependencies: [
                "CrashPoints", "Engine", "IntentMatching", "JournalSQLite", "Journaling", "Ownership", "Partitions",
                "Settings", "Timelines", "WidgetModel", logging, nioCore, nioPosix,
            ],
            path: "Tests/Fixtures/OwnerCrasher",
            swiftSettings: settings
        ),
        suite(
            "RecoveryTests",
            [
                "BrokerSupport", "Engine", "History", "IntentMatching", "JournalContract", "JournalSQLite",
                "Journaling",
                "OwnerCrasher", "Ownership", "Partitions", "TestSupport", "WidgetModel", journalJetStream, logging,
                nioCore, nioPosix,
            ]
        ),
        suite(
            "OwnershipTests",
            [
                "APNSWire", "Engine", "IntentMatching", "Journaling", "Ownership", "TestSupport", "Timelines",
                "WidgetModel",
            ]
        ),
        suite(
            "GatewayTests",
            [
                "APNSWire", "Clustering", "Delivery", "Engine", "Gateway", "HTTP2", "HTTPTransport", "History",
                "HostAPI", "Ingest", "IntentMatching", "Journaling", "OperatorAPI", "Ownership", "Partitions",
                "ScriptedServer", "Serving", "Settings", "TLS", "Telemetry", "TestSupport", "TimelineProviding",
                "Timelines", "TransportSupport", "WidgetModel", logging, metrics, nioCore, nioPosix, tracing, yams,
            ]
        ),
        suite(
            "SimulationTests",
            [
                "Engine", "History", "Journaling", "ReportPages", "Scenarios", "Settings", "Simulation",
                "TestSupport", "Timelines", "WidgetModel",
            ]
        ),
        suite(
            "LoadGeneratorTests",
            [
                "APNSWire", "HTTP2", "LoadGenerator", "ReportPages", "Scenarios", "ScriptedServer", "TLS",
                "TestSupport", "WidgetModel",
                histogram, nioCore, nioPosix,
            ]
        ),
        suite("FreshetClientTests", ["FreshetClient"]),
        .executableTarget(
            name: "ClientDriver",
            dependencies: ["FreshetClient"],
            path: "Tests/Fixtures/ClientDriver",
            swiftSettings: settings
        ),
        // No products: `make bench` builds them by name.
        .target(name: "CReading", path: "Tests/Benchmarks/Reading"),
        .executableTarget(
            name: "BenchmarkRows",
            dependencies: [
                "CReading", "Engine", "IntentMatching", "Storage", "TestSupport", "Timelines", "WidgetModel",
            ],
            path: "Tests/Benchmarks/Rows",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "BenchmarkTransport",
            dependencies: ["HTTP2", "HTTPTransport", "TLS", logging, nioCore, nioPosix],
            path: "Tests/Benchmarks/Transport",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "BenchmarkJournal",
            dependencies: ["JournalSQLite", "Journaling", "WidgetModel"],
            path: "Tests/Benchmarks/Journal",
            swiftSettings: settings
        ),
        suite(
            "EndToEndTests",
            [
                "APNSWire", "BrokerSupport", "ClientDriver", "Clustering", "Engine", "FreshetCLI", "FreshetClient",
                "Gateway", "HTTPTransport", "Journaling", "Partitions", "RulesRewriter", "Scoreboard", "ScriptedServer",
                "Settings", "TLS", "WidgetModel", argumentParser, logging, nioPosix, yams,
            ],
            exclude: ["Clients"]
        ),
        suite("TidyTests", []),
    ],
    cxxLanguageStandard: .cxx17
)
