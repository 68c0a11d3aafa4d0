import APNSWire
import Gateway
import HTTP2
import TestSupport
import Testing
import WidgetModel

@Suite struct BatchTokensTests {
    private static let route = "/3/device/"

    /// A batch of requests to these paths, and where the digits of each begin and end.
    private static func batch(_ paths: [String]) -> (RequestBatch, [Range<Int>]) {
        var batch = RequestBatch()
        var digits: [Range<Int>] = []
        for (number, path) in paths.enumerated() {
            let start = batch.bytes.count
            batch.bytes += Array(path.utf8)
            let place = ByteRange(offset: UInt32(start), length: UInt32(path.utf8.count))
            batch.requests.append(RequestBatch.Request(streamID: Int32(2 * number + 1), path: place))
            digits.append(min(start + self.route.utf8.count, batch.bytes.count)..<batch.bytes.count)
        }
        return (batch, digits)
    }

    private static func words(_ hex: String) -> TokenWords {
        var words = TokenWords()
        _ = words.decode(hex: hex.utf8.span)
        return words
    }

    private let directory = HostDirectory(seed: 7, apps: [Sports.app])

    /// What is read of each request, `nil` where nothing is.
    private func read(_ paths: [String], into tokens: inout BatchTokens) -> [TokenWords?] {
        let (batch, digits) = Self.batch(paths)
        tokens.read(batch, self.directory)
        return digits.indices.map { number in
            var token = TokenWords()
            return tokens.take(number, digits[number], into: &token) == true ? token : nil
        }
    }

    @Test func `each request of a batch gets its own token`() {
        self.directory.bind(
            Sports.token("phone"),
            to: HostDirectory.Entry(host: HostKey("a"), instance: nil, partition: PartitionID(0))
        )
        let hexes = (0..<9).map { Sports.token("phone \($0)").hex } + [Sports.token("phone").hex, "00", "AbCd"]
        var tokens = BatchTokens()
        #expect(self.read(hexes.map { Self.route + $0 }, into: &tokens) == hexes.map { Self.words($0) })
        // Another batch, with other tokens at the same places.
        let others = Array(hexes.reversed())
        #expect(self.read(others.map { Self.route + $0 }, into: &tokens) == others.map { Self.words($0) })
    }

    @Test func `what is no token in hex, or to no device, is not read`() {
        var tokens = BatchTokens()
        #expect(self.read(["/3/device/01"], into: &tokens) == [Self.words("01")])
        let paths = ["", "/3/device/0g", "/3/device/000", "/3/device/", "/3/device", "/v1/apps/a/b", "/3/device/00"]
        #expect(self.read(paths, into: &tokens) == [nil, nil, nil, nil, nil, nil, Self.words("00")])
    }

    @Test func `a token is taken once, for the request and the place that it was read at`() {
        var tokens = BatchTokens()
        let (batch, digits) = Self.batch(["/3/device/00", "/3/device/01"])
        tokens.read(batch, self.directory)
        var token = TokenWords()
        #expect(tokens.take(0, digits[1], into: &token) == nil)
        #expect(tokens.take(2, digits[0], into: &token) == nil)
        #expect(token == TokenWords())
        #expect(tokens.take(1, digits[1], into: &token) == true)
        #expect(token == Self.words("01"))
        #expect(tokens.take(1, digits[1], into: &token) == nil)
        let (alone, place) = Self.batch(["/3/device/02"])
        tokens.read(alone, self.directory)
        #expect(tokens.take(1, digits[1], into: &token) == nil)
        #expect(tokens.take(0, place[0], into: &token) == true)
        #expect(token == Self.words("02"))
    }
}
