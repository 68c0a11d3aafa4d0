import APNSWire
package import HTTP2
package import Partitions

/// The device tokens of a batch's requests, read before the first of them is judged: so that their rows can be fetched
/// for many at a time.
package struct BatchTokens: Sendable {
    /// A token that was read, until another batch is or another token alone.
    package struct Token: Hashable, Sendable {
        fileprivate let index: Int
        /// Else it is no token, and nothing is known of it.
        package let isHex: Bool
    }

    private struct Entry: Sendable {
        /// Where in the batch's bytes its digits are; empty if the request is to no device.
        var digits = 0..<0
        var isHex = false
        var token = TokenWords()
    }

    /// The length of `/3/device/`.
    private static let routeBytes = 10
    /// Of fewer tokens fetching ahead takes longer than waiting.
    private static let fetchedMin = 4

    /// By the request's place in the batch; the one behind ``count`` is for a token that comes alone, more are room for other
    /// batches.
    private var entries = [Entry()]
    private var count = 0
    private var hashes: [UInt64] = []

    /// None are read yet.
    package init() {}

    /// Reads the tokens of a batch, and fetches the directory's entries for them. O(requests).
    package mutating func read(_ batch: borrowing RequestBatch, _ directory: HostDirectory) {
        let bytes = batch.bytes.span
        self.count = batch.requests.count
        self.hashes.removeAll(keepingCapacity: true)
        while self.entries.count <= self.count { self.entries.append(Entry()) }
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

    /// The token of a request, read now if it was not read with the others of its batch.
    ///
    /// - Parameters:
    ///   - number: The request's place in the batch, nil if it came alone.
    ///   - digits: Where its token is.
    @inline(__always)
    package mutating func token(of number: Int?, _ digits: Range<Int>, in bytes: Span<UInt8>) -> Token {
        if let number, number < self.count, !digits.isEmpty, self.entries[number].digits == digits {
            return Token(index: number, isHex: self.entries[number].isHex)
        }
        return Token(index: self.count, isHex: self.entries[self.count].token.decode(hex: bytes.extracting(digits)))
    }

    /// The standing of a token, see ``HostDirectory/find(_:of:into:)``.
    package func find(
        _ token: Token,
        of app: Int,
        in directory: HostDirectory,
        into place: inout HostPlace
    ) -> TokenStanding {
        directory.find(self.entries.span[token.index].token, of: app, into: &place)
    }
}
