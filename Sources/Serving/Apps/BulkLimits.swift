/// The bounds of bulks of targeted pushes.
package struct BulkLimits: Hashable, Sendable {
    /// The longest body. Default 1 MiB.
    package var bytesMax = 1_048_576
    /// The most lines. Default 10,000.
    package var linesMax = 10_000
    /// Lines of one bulk that are without an answer at once. Default 256.
    package var inFlightMax = 256
    /// Bulks at once, over all connections. Default 64.
    package var requestsMax = 64

    package init() {}

    /// The longest line: a payload, every byte of which may be written as an escape of six, and headers.
    package func lineBytesMax(payload: Int) -> Int { min(self.bytesMax, 6 * payload + 8192) }
}
