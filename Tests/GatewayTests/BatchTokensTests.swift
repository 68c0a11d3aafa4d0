import APNSWire
import HTTP2
import Ingest
import Partitions
import Serving
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

    private let directory = HostDirectory(seed: 7, apps: [Sports.app])

    /// Tokens in hex, each bound to the host of its digits.
    private func bound(_ hexes: [String]) -> [String] {
        for hex in hexes {
            let token = DeviceToken(bytes: DeviceToken.decode(hex: hex.utf8.span) ?? [])
            let entry = TokenBinding(host: HostKey(hex), instance: nil, partition: PartitionID(0))
            self.directory.bind(token, to: entry)
        }
        return hexes
    }

    /// The host of a token, `nil` if it is not hex.
    private func host(_ token: BatchTokens.Token, in tokens: borrowing BatchTokens) -> String? {
        guard token.isHex else { return nil }
        var place = HostPlace()
        let standing = tokens.find(token, of: 0, in: self.directory, into: &place)
        return standing == .unknown ? "unknown" : place.hostID.rawValue
    }

    /// The host of each request of a batch.
    private func hosts(_ paths: [String], _ tokens: inout BatchTokens) -> [String?] {
        let (batch, digits) = Self.batch(paths)
        tokens.read(batch, self.directory)
        var hosts: [String?] = []
        for number in digits.indices {
            let token = tokens.token(of: number, digits[number], in: batch.bytes.span)
            hosts.append(self.host(token, in: tokens))
        }
        return hosts
    }

    @Test func `each request of a batch gets its own token`() {
        let hexes = self.bound((0..<10).map { Sports.token("phone \($0)").hex } + ["00", "AbCd"])
        var tokens = BatchTokens()
        #expect(self.hosts(hexes.map { Self.route + $0 }, &tokens) == hexes)
        // Another batch, with other tokens at the same places.
        let others = Array(hexes.reversed())
        #expect(self.hosts(others.map { Self.route + $0 }, &tokens) == others)
    }

    @Test func `what is not hex is no token`() {
        var tokens = BatchTokens()
        _ = self.bound(["00", "01"])
        #expect(self.hosts(["/3/device/01"], &tokens) == ["01"])
        let paths = ["", "/3/device/0g", "/3/device/000", "/3/device/", "/3/device", "/3/device/02", "/3/device/00"]
        #expect(self.hosts(paths, &tokens) == [nil, nil, nil, nil, nil, "unknown", "00"])
    }

    @Test func `a token that was not read with its batch is read alone`() {
        let (batch, digits) = Self.batch(self.bound(["00", "01", "02"]).map { Self.route + $0 })
        var tokens = BatchTokens()
        // Before any batch, elsewhere than the request says, of another request, beyond the batch, of none.
        for isRead in [false, true] {
            if isRead { tokens.read(batch, self.directory) }
            for (number, place) in [(0, 1), (1, 0), (3, 2), (nil, 2), (1, 1)] as [(Int?, Int)] {
                let token = tokens.token(of: number, digits[place], in: batch.bytes.span)
                #expect(self.host(token, in: tokens) == "0\(place)")
            }
        }
        // A token alone takes the place of none of the batch.
        for number in digits.indices {
            let token = tokens.token(of: number, digits[number], in: batch.bytes.span)
            #expect(self.host(token, in: tokens) == "0\(number)")
        }
    }
}
