package import APNSWire
package import HTTP2

/// The device tokens of a batch's requests, read before the first of them is judged: so that what is known of them can be
/// fetched for many at a time.
package struct BatchTokens: Sendable {
    private struct Entry: Sendable {
        /// Where in the batch's bytes its digits are; empty if the request is to no device, or the token was taken.
        var digits = 0..<0
        var isHex = false
        var token = TokenWords()
    }

    /// The length of `/3/device/`.
    private static let routeBytes = 10
    /// Of fewer tokens fetching ahead takes longer than waiting.
    private static let fetchedMin = 4

    /// By the request's place in the batch; those behind ``count`` are room for other batches.
    private var entries: [Entry] = []
    private var count = 0
    private var hashes: [UInt64] = []

    /// None are read yet.
    package init() {}

    /// Reads the tokens of a batch, and fetches what the directory knows of them. O(requests).
    package mutating func read(_ batch: borrowing RequestBatch, _ directory: HostDirectory) {
        let bytes = batch.bytes.span
        self.count = batch.requests.count
        self.hashes.removeAll(keepingCapacity: true)
        while self.entries.count < self.count { self.entries.append(Entry()) }
        for number in 0..<self.count {
            let path = batch.requests[number].path.wire
            self.entries[number].digits = 0..<0
            // Whether the rest of the path is a token is judged later; here it only has to be hex.
            guard path.bounds.count > Self.routeBytes, PushRoute.isBelowDevice(path, in: bytes) else { continue }
            let digits = path.bounds.dropFirst(Self.routeBytes)
            self.entries[number].digits = digits
            self.entries[number].isHex = self.entries[number].token.decode(hex: bytes.extracting(digits))
            if self.entries[number].isHex { self.hashes.append(directory.hash(self.entries[number].token)) }
        }
        if self.hashes.count >= Self.fetchedMin { directory.prefetch(self.hashes) }
    }

    /// Exchanges a token for that of a request, if it was read.
    ///
    /// - Parameters:
    ///   - number: The request's place in the batch.
    ///   - digits: Where its token is.
    /// - Returns: Whether it is hex; nil if it was not read.
    package mutating func take(_ number: Int, _ digits: Range<Int>, into token: inout TokenWords) -> Bool? {
        guard number < self.count, !digits.isEmpty, self.entries[number].digits == digits else { return nil }
        swap(&self.entries[number].token, &token)
        self.entries[number].digits = 0..<0
        return self.entries[number].isHex
    }
}
