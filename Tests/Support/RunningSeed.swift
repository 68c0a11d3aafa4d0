import Foundation

/// Says which seeds run, by empty files that stand as long as they do: a process that dies in the middle of one leaves its
/// name in `.build/running-seeds`, as it could not say it any more.
package enum RunningSeed {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: ".build/running-seeds")

    /// - Parameters:
    ///   - seed: The seed that `body` runs with.
    ///   - suite: The suite that runs it; it may not run the same seed twice at one time.
    package static func run<Result>(_ seed: UInt64, of suite: String, _ body: () throws -> Result) throws -> Result {
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
        let file = Self.folder.appending(path: "\(suite) seed \(seed)")
        try Data().write(to: file)
        let result = try body()
        try FileManager.default.removeItem(at: file)
        return result
    }
}
