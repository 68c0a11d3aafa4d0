/// The allowed imports of each target, the table of `docs/architecture.md`: arrows only point down.
///
/// The compiler lets a target import whatever its dependencies import, so that only this test keeps the arrows.
enum AllowedImports {
    /// Modules of the project by target.
    static let ours: [String: Set<String>] = [
        // Pure: values in, values out.
        "WidgetModel": [],
        "Storage": ["CKernels", "WidgetModel"],
        "IntentMatching": ["Storage", "WidgetModel"],
        "Timelines": ["Storage", "WidgetModel"],
        "Engine": ["IntentMatching", "Storage", "Timelines", "WidgetModel"],
        "APNSWire": ["CSimdjson", "Storage", "WidgetModel"],
        "Journaling": ["CKernels", "WidgetModel"],
        "JournalStreams": ["Journaling", "WidgetModel"],
        "Ownership": ["APNSWire", "Engine", "IntentMatching", "Journaling", "WidgetModel"],
        "TimelineProviding": ["Engine", "Ownership", "Timelines", "WidgetModel"],
        "History": ["Engine", "IntentMatching", "Journaling", "Ownership", "Timelines", "WidgetModel"],
        "Clustering": ["WidgetModel"],
        "Telemetry": ["WidgetModel"],
        "Scenarios": ["WidgetModel"],
        // Protocols without sockets.
        "TLS": ["COpenSSL"],
        "HTTP2": ["CNghttp2"],
        // I/O.
        "HTTPTransport": ["CZlib", "HTTP2", "TLS", "WidgetModel"],
        "WorkerThreads": ["Journaling"],
        "JournalJetStream": ["CNATS", "Clustering", "JournalStreams", "Journaling", "WidgetModel", "WorkerThreads"],
        "JournalSQLite": ["CSQLite", "Journaling", "WidgetModel", "WorkerThreads"],
        // The dashboard's files, reports' pages, and the plug-in's tool that makes constants of files.
        "DashboardPage": [], "ReportPages": ["DashboardPage"], "EmbedText": [],
        // Composition, and the programs.
        "Simulation": [
            "APNSWire", "Engine", "History", "IntentMatching", "JournalStreams", "Journaling", "Ownership",
            "ReportPages", "Scenarios", "TimelineProviding", "Timelines", "WidgetModel",
        ],
        "Settings": [
            "APNSWire", "Engine", "HTTP2", "HTTPTransport", "IntentMatching", "Journaling", "Ownership",
            "TimelineProviding", "Timelines", "WidgetModel",
        ],
        "Partitions": [
            "APNSWire", "Clustering", "Engine", "HTTP2", "HTTPTransport", "History", "IntentMatching", "Journaling",
            "Ownership", "Settings", "TLS", "Telemetry", "WidgetModel",
        ],
        "Serving": [
            "APNSWire", "Engine", "HTTPTransport", "History", "IntentMatching", "Journaling", "Ownership",
            "Partitions", "Settings", "TLS", "TimelineProviding", "Timelines", "WidgetModel",
        ],
        "Ingest": [
            "APNSWire", "Engine", "HTTP2", "HTTPTransport", "IntentMatching", "Journaling", "Ownership",
            "Partitions", "Serving", "Storage", "TLS", "WidgetModel",
        ],
        "HostAPI": [
            "APNSWire", "Engine", "HTTPTransport", "IntentMatching", "Partitions", "Serving",
            "TimelineProviding", "Timelines", "WidgetModel",
        ],
        "OperatorAPI": [
            "APNSWire", "Clustering", "DashboardPage", "Engine", "HTTP2", "HTTPTransport", "History", "IntentMatching",
            "Journaling", "Ownership", "Partitions", "Serving", "Settings", "TLS", "Telemetry", "TimelineProviding",
            "Timelines", "WidgetModel",
        ],
        "Delivery": [
            "APNSWire", "Engine", "HTTPTransport", "IntentMatching", "Journaling", "Ownership", "Partitions",
            "Serving", "Settings", "TLS", "TimelineProviding", "Timelines", "WidgetModel",
        ],
        "Gateway": [
            "APNSWire", "Clustering", "Delivery", "Engine", "HTTP2", "HTTPTransport", "History", "HostAPI", "Ingest",
            "Journaling",
            "OperatorAPI", "Ownership", "Partitions", "Serving", "Settings", "TLS", "Telemetry", "Timelines",
            "WidgetModel",
        ],
        "LoadGenerator": ["APNSWire", "HTTP2", "HTTPTransport", "ReportPages", "Scenarios", "TLS", "WidgetModel"],
        "FreshetCLI": [
            "APNSWire", "CICUData", "CTimex", "Clustering", "Delivery", "Engine", "Gateway", "HTTPTransport", "History",
            "HostAPI",
            "JournalJetStream", "JournalSQLite", "Journaling", "LoadGenerator", "OperatorAPI",
            "Ownership",
            "Partitions", "ReportPages", "Scenarios", "Serving", "Settings", "Simulation", "TLS", "Telemetry",
            "Timelines",
            "WidgetModel",
        ],
        // For programs of others.
        "FreshetClient": [],
        // C libraries: no Swift in them.
        "CICUData": [], "CKernels": [], "CNATS": [], "CNghttp2": [], "COpenSSL": [], "CSQLite": [], "CSimdjson": [],
        "CTimex": [],
        "CZlib": [],
    ]

    /// Modules of others by target: packages, and modules that come with Swift.
    static let others: [String: Set<String>] = [
        "EmbedText": ["Foundation", "PackagePlugin"],
        "Storage": ["BasicContainers"],
        "Engine": ["BasicContainers", "DequeModule"],
        "IntentMatching": ["BasicContainers"],
        "Journaling": ["Synchronization"],
        "Ownership": ["HeapModule"],
        "HTTPTransport": ["Logging", "NIOCore", "NIOHTTP1", "NIOPosix", "Synchronization"],
        "JournalJetStream": ["Dispatch", "FoundationEssentials", "Glibc", "Synchronization"],
        "JournalSQLite": ["Dispatch", "Glibc", "Synchronization"],
        "WorkerThreads": ["Glibc", "Synchronization"],
        "LoadGenerator": ["DequeModule", "Histogram", "Logging", "NIOCore", "NIOPosix", "Synchronization"],
        "Scenarios": ["Yams"],
        "Simulation": ["HeapModule", "Synchronization"],
        "TimelineProviding": ["HeapModule"],
        "Telemetry": ["CoreMetrics", "Synchronization", "Tracing"],
        "Settings": ["FoundationEssentials", "NIOCore", "Synchronization", "Yams"],
        "Partitions": [
            "FoundationEssentials", "Glibc", "Logging", "Metrics", "NIOCore", "NIOPosix", "Synchronization",
            "SystemPackage", "Tracing",
        ],
        "Serving": ["FoundationEssentials", "NIOCore", "NIOPosix", "Synchronization"],
        "Ingest": ["NIOCore", "Synchronization"],
        "OperatorAPI": ["FoundationEssentials", "Logging", "Metrics", "NIOCore", "NIOPosix", "Synchronization"],
        "Delivery": ["FoundationEssentials", "Logging", "Metrics", "NIOCore", "NIOPosix", "Synchronization"],
        "Gateway": [
            "FoundationEssentials", "Logging", "Metrics", "NIOCore", "NIOPosix", "ServiceLifecycle",
            "Synchronization",
        ],
        "FreshetClient": ["Foundation", "FoundationNetworking", "Synchronization"],
        "FreshetCLI": [
            "ArgumentParser", "Foundation", "FoundationEssentials", "Logging", "Metrics", "NIOCore", "NIOPosix",
            "ServiceLifecycle", "Synchronization", "UnixSignals",
        ],
    ]

    /// Modules that some folders alone may import, so that a library stays in its place.
    static let confined: [(module: String, folders: [String])] = [
        // A build without the trait has no libnats.
        ("CNATS", ["Sources/JournalJetStream/"]),
        (
            "JournalJetStream",
            ["Sources/FreshetCLI/ChosenJournal.swift", "Sources/FreshetCLI/Moving/ClusterMove.swift"]
        ),
        // The priority of a thread.
        (
            "Glibc",
            [
                "Sources/JournalJetStream/", "Sources/JournalSQLite/", "Sources/WorkerThreads/",
                "Sources/Partitions/Snapshots/Snapshotter.swift",
            ]
        ),
    ]

    /// Modules that nothing in the repository may import.
    static let never: Set<String> = ["NIOSSL", "NIOHTTP2", "NIOTLS", "XCTest"]

    /// But here: clients that are not ours, a package of their own each.
    static let foreign = "Tests/ForeignClients/"

    /// Targets without clock, dice, I/O and threads.
    static let pure: Set<String> = [
        "WidgetModel", "Storage", "IntentMatching", "Timelines", "Engine", "TimelineProviding", "APNSWire",
        "JournalStreams", "Journaling", "History", "Ownership", "ReportPages", "Scenarios", "Simulation",
    ]

    /// Words that no pure target has a use for.
    static let impureWords: Set<String> = [
        "Task", "TaskGroup", "await", "async", "sleep", "usleep", "nanosleep", "Thread", "DispatchQueue", "Date",
        "NSDate",
        "ContinuousClock", "SuspendingClock", "clock_gettime", "gettimeofday", "time_t", "SystemRandomNumberGenerator",
        "random", "randomElement", "shuffled", "getenv", "fopen", "socket", "print",
    ]

    /// Whether a file may contain `unsafe`: wrappers around C, the target whose tables hold memory, the file that compares
    /// header values with literals, and the ones that lend bytes to simdjson, to OpenSSL, to zlib and to the checksum's kernel,
    /// and ask the system about the terminal and the limit of open files.
    static func allowsUnsafe(_ path: String) -> Bool {
        let bridges = [
            "Sources/APNSWire/JSONReader.swift", "Sources/APNSWire/Span+Literals.swift",
            "Sources/HTTPTransport/ByteBuffer+Memory.swift", "Sources/HTTPTransport/Gzip.swift",
            "Sources/Journaling/CRC32C.swift", "Sources/FreshetCLI/Operators/Screen.swift",
            "Sources/FreshetCLI/DescriptorLimit+Raising.swift",
        ]
        let folders = [
            "Sources/Storage/", "Sources/TLS/", "Sources/HTTP2/", "Sources/JournalJetStream/", "Sources/JournalSQLite/",
            "Sources/WorkerThreads/",
        ]
        return folders.contains { path.hasPrefix($0) } || bridges.contains(path)
    }
}
