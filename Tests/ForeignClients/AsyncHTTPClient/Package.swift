// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nothing of it is ever built or resolved with Freshet.
let package = Package(
    name: "async-http-client-sender",
    platforms: [.macOS(.v15)],
    dependencies: [
        // APNSwift's transport. docs/testing.md is about this version.
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0")
    ],
    targets: [
        .executableTarget(
            name: "AsyncHTTPClientSender",
            dependencies: [.product(name: "AsyncHTTPClient", package: "async-http-client")]
        )
    ]
)
