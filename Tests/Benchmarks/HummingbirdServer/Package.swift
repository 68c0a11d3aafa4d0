// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nothing of it is ever built or resolved with Freshet.
let package = Package(
    name: "hummingbird-server",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0")
    ],
    targets: [
        .executableTarget(
            name: "HummingbirdServer",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
            ]
        )
    ]
)
