import APNSWire
import Engine
import TestSupport
import Testing
import WidgetModel
@testable import Ingest
@testable import Partitions
@testable import Serving

@Suite struct HostDirectoryTests {
    private let directory = HostDirectory(seed: 7, apps: [Sports.app])
    private let token = Sports.token("phone")

    private static func entry(_ host: String, _ instance: String? = nil, partition: UInt16 = 0) -> TokenBinding {
        TokenBinding(
            host: HostKey(host),
            instance: instance.map { InstanceID($0) },
            partition: PartitionID(partition)
        )
    }

    private static func words(_ hex: String) -> TokenWords {
        var words = TokenWords()
        let isHex = words.decode(hex: hex.utf8.span)
        #expect(isHex)
        return words
    }

    private func remove(in partition: UInt16, at instant: Instant = Sports.start) {
        self.directory.markRemoved(self.token, app: Sports.app, at: instant, in: PartitionID(partition))
    }

    @Test func `a token that was never named is unknown`() {
        #expect(self.directory.lookup(self.token) == .unknown)
        #expect(self.directory.count == 0)
    }

    @Test(arguments: [0, 1, 64, 1000, 100_000])
    func `room that is made changes nothing of what is known, and more may come than it is for`(room: Int) {
        self.directory.bind(self.token, to: Self.entry("a"))
        self.directory.reserve(room)
        let tokens = (0..<2000).map { Sports.token("phone-\($0)") }
        for (number, token) in tokens.enumerated() { self.directory.bind(token, to: Self.entry("host-\(number)")) }
        self.directory.reserve(room)
        #expect(self.directory.count == 2001)
        #expect(self.directory.lookup(self.token) == .bound(Self.entry("a")))
        #expect(
            tokens.indices.allSatisfy {
                self.directory.lookup(tokens[$0]) == .bound(Self.entry("host-\($0)"))
            }
        )
    }

    @Test func `hosts of an app that is not served are its own again when it is`() {
        let other = BundleID("com.example.third")
        let entry = TokenBinding(host: HostKey("a", of: other), instance: nil, partition: PartitionID(0))
        self.directory.bind(self.token, to: entry)
        var place = HostPlace()
        let words = Self.words(self.token.hex)
        // The next number is another app's.
        self.directory.serve([Sports.app, Sports.otherApp])
        #expect(self.directory.find(words, of: 1, into: &place) == .bound(isOfApp: false))
        self.directory.serve([Sports.app, Sports.otherApp, other])
        #expect(self.directory.find(words, of: 2, into: &place) == .bound(isOfApp: true))
        #expect(self.directory.lookup(self.token) == .bound(entry))
    }

    @Test func `a token is bound, bound anew, removed and forgotten`() {
        self.directory.bind(self.token, to: Self.entry("a"))
        #expect(self.directory.lookup(self.token) == .bound(Self.entry("a")))
        self.directory.bind(self.token, to: Self.entry("a", "control"))
        #expect(self.directory.lookup(self.token) == .bound(Self.entry("a", "control")))
        self.remove(in: 0)
        #expect(self.directory.lookup(self.token) == .removed(app: Sports.app, .unregistered, at: Sports.start))
        #expect(self.directory.count == 1)
        self.directory.forget(self.token, in: PartitionID(0))
        #expect(self.directory.lookup(self.token) == .unknown)
        #expect(self.directory.count == 0)
    }

    @Test func `a partition that is another node's takes all that it said with it`() {
        let directory = HostDirectory(seed: 7, apps: [Sports.app], absent: 2)
        #expect(!directory.isWhole)
        directory.noteArrival()
        directory.noteArrival()
        #expect(directory.isWhole)
        let tokens = (0..<2000).map { Sports.token("phone-\($0)") }
        for (number, token) in tokens.enumerated() {
            directory.bind(token, to: Self.entry("host-\(number)", partition: UInt16(number % 2)))
        }
        directory.bind(tokens[0], to: Self.entry("moved", partition: 1))
        directory.leave(PartitionID(1), wasKnown: true)
        #expect(!directory.isWhole && directory.count == 1000)
        for (number, token) in tokens.enumerated() {
            let known = TokenLookup.bound(Self.entry("host-\(number)"))
            #expect(directory.lookup(token) == (number % 2 == 0 ? known : .unknown))
        }
        // One that never came to its end.
        directory.bind(tokens[1], to: Self.entry("half", partition: 1))
        directory.leave(PartitionID(1), wasKnown: false)
        #expect(directory.lookup(tokens[1]) == .unknown && !directory.isWhole)
        directory.noteArrival()
        #expect(directory.isWhole)
    }

    @Test func `tokens are told apart by every byte and by length`() {
        let tokens = [[1, 2, 3], [1, 2], [1, 2, 4], [2, 2, 3], [1, 2, 3, 0]].map { DeviceToken(bytes: $0) }
        for (index, token) in tokens.enumerated() { self.directory.bind(token, to: Self.entry("host-\(index)")) }
        #expect(tokens.map { self.directory.lookup($0) } == (0..<5).map { .bound(Self.entry("host-\($0)")) })
        var place = HostPlace()
        for (index, token) in tokens.enumerated() {
            let standing = self.directory.find(Self.words(token.hex), of: 0, into: &place)
            #expect(standing == .bound(isOfApp: true))
            #expect(place.hostID == HostID("host-\(index)"))
        }
    }

    @Test func `a push is told where it goes, and whether the token is its app's`() {
        let words = TokenWords(self.token)
        var place = HostPlace()
        let unknown = self.directory.find(words, of: 0, into: &place)
        #expect(unknown == .unknown)
        self.directory.bind(self.token, to: Self.entry("phone", "lamp", partition: 3))
        let bound = self.directory.find(words, of: 0, into: &place)
        #expect(bound == .bound(isOfApp: true))
        #expect(place.partition == PartitionID(3))
        #expect(place.hostID == HostID("phone"))
        #expect(place.instanceID == InstanceID("lamp"))
        let other = self.directory.find(words, of: 1, into: &place)
        #expect(other == .bound(isOfApp: false))
        self.directory.bind(self.token, to: Self.entry("a", partition: 3))
        _ = self.directory.find(words, of: 0, into: &place)
        #expect(place.hostID == HostID("a"))
        #expect(place.instanceID == nil)
        self.remove(in: 3)
        let removed = self.directory.find(words, of: 1, into: &place)
        #expect(removed == .removed(isOfApp: false, .unregistered, at: Sports.start))
    }

    @Test func `an app that got no number at the start gets one with its first token`() {
        let late = BundleID("com.example.late")
        let entry = TokenBinding(host: HostKey("h", of: late), instance: nil, partition: PartitionID(0))
        self.directory.bind(self.token, to: entry)
        #expect(self.directory.lookup(self.token) == .bound(entry))
        var place = HostPlace()
        let standing = self.directory.find(TokenWords(self.token), of: 0, into: &place)
        #expect(standing == .bound(isOfApp: false))
    }

    /// The directory must answer as a plain dictionary would, after any history.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `words of partitions on tokens come and go as in a plain list`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var model: [(token: Int, partition: UInt16, lookup: TokenLookup)] = []
        for step in 0..<400 {
            let (token, partition) = (
                Int(random.next() % 12), UInt16(random.next() % 3)
            )
            let bytes = DeviceToken(bytes: [UInt8(token), 7])
            model.removeAll { $0.token == token && $0.partition == partition }
            switch random.next() % 3 {
            case 0:
                let entry = Self.entry("h\(step)", step.isMultiple(of: 2) ? "i\(step)" : nil, partition: partition)
                self.directory.bind(bytes, to: entry)
                model.append((token, partition, .bound(entry)))
            case 1:
                let at = Instant(milliseconds: Int64(random.next() % 5))
                self.directory.markRemoved(bytes, app: Sports.app, at: at, in: PartitionID(partition))
                model.append((token, partition, .removed(app: Sports.app, .unregistered, at: at)))
            default:
                self.directory.forget(bytes, in: PartitionID(partition))
            }
            #expect(
                self.directory.lookup(bytes) == Self.newest(model.filter { $0.token == token }.map(\.lookup)),
                "seed \(seed)"
            )
            #expect(self.directory.count == model.count, "seed \(seed)")
        }
    }

    /// Tokens of all lengths, hosts of apps that are served and of one that is not, some tokens more than once, among words
    /// that came one by one.
    @Test(arguments: [0, 1, 63, 64, 65, 10_000])
    func `many tokens at once are what one after the other would be`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        let oneByOne = HostDirectory(seed: 8, apps: [Sports.app])
        // By other numbers than the directory's.
        let apps = [Sports.otherApp, Sports.app]
        func token() -> DeviceToken {
            let number = random.next() % UInt64(count + 10)
            let length = 2 + Int(number % 70)
            return DeviceToken(bytes: [UInt8(number & 255), UInt8(number >> 8)] + Array(repeating: 5, count: length))
        }
        var tokens: [DeviceToken] = []
        for round in 0..<3 {
            for number in 0..<count / 4 {
                let (token, partition) = (token(), UInt16(random.next() % 2))
                for directory in [self.directory, oneByOne] {
                    switch number % 3 {
                    case 0: directory.bind(token, to: Self.entry("old-\(number)", partition: partition))
                    case 1:
                        directory.markRemoved(token, app: Sports.app, at: Sports.start, in: PartitionID(partition))
                    default: directory.forget(token, in: PartitionID(partition))
                    }
                }
                tokens.append(token)
            }
            let partition = PartitionID(UInt16(round % 2))
            var filling = HostDirectoryFilling(self.directory, of: apps, in: partition)
            for number in 0..<count {
                let (token, app) = (token(), Int(random.next() % 2))
                let host = "host-\(round)-\(number)"
                filling.bind(token.bytes.span, to: host.utf8.span, of: app)
                oneByOne.bind(
                    token,
                    to: TokenBinding(host: HostKey(host, of: apps[app]), instance: nil, partition: partition)
                )
                tokens.append(token)
            }
            filling.finish()
            #expect(self.directory.count == oneByOne.count)
            #expect(tokens.allSatisfy { self.directory.lookup($0) == oneByOne.lookup($0) })
        }
        for token in tokens {
            for partition in [0, 1] as [UInt16] { self.directory.forget(token, in: PartitionID(partition)) }
        }
        #expect(self.directory.count == 0)
        #expect(self.directory.textBytes < 64 * 2 * 4096)
    }

    @Test func `what many tokens at once leave behind is given back`() {
        for round in 0..<200 {
            var filling = HostDirectoryFilling(self.directory, of: [Sports.app], in: PartitionID(0))
            for number in 0..<100 as Range<UInt8> {
                let token = DeviceToken(bytes: Array(repeating: number, count: 32))
                filling.bind(token.bytes.span, to: "host-\(number)-\(round)".utf8.span, of: 0)
            }
            filling.finish()
        }
        #expect(self.directory.count == 100)
        #expect(self.directory.textBytes < 64 * 4096 + 100 * 50)
    }

    @Test func `what tokens that come and go leave behind is given back`() {
        for round in 0..<200 {
            for number in 0..<40 as Range<UInt8> {
                let token = DeviceToken(bytes: Array(repeating: number, count: 32))
                self.directory.bind(token, to: Self.entry("host-\(number)-\(round)"))
            }
        }
        // 40 tokens of 32 bytes with ids of some ten, and in none of 64 parts more than 4 KiB of removed text.
        #expect(self.directory.count == 40)
        #expect(self.directory.textBytes < 64 * 4096)
        for number in 0..<40 as Range<UInt8> {
            let token = DeviceToken(bytes: Array(repeating: number, count: 32))
            #expect(self.directory.lookup(token) == .bound(Self.entry("host-\(number)-199")))
        }
    }

    /// The last binding, else the latest removal.
    private static func newest(_ words: [TokenLookup]) -> TokenLookup {
        var newest = TokenLookup.unknown
        for word in words {
            switch (word, newest) {
            case (.bound, _), (.removed, .unknown): newest = word
            case (.removed(_, _, let at), .removed(_, _, let other)) where at >= other: newest = word
            default: break
            }
        }
        return newest
    }

    /// The token was a host's in one partition, which removed it, and is another host's in another partition now.
    @Test(arguments: [0, 1] as [UInt16])
    func `a binding outweighs another partition's removal, whichever is replayed first`(removedIn: UInt16) {
        let bound = Self.entry("new", partition: 1 - removedIn)
        self.directory.bind(self.token, to: bound)
        self.directory.bind(self.token, to: Self.entry("old", partition: removedIn))
        self.remove(in: removedIn)
        #expect(self.directory.lookup(self.token) == .bound(bound))
    }

    @Test func `a removal that is forgotten after 30 days does not take another partition's binding along`() {
        self.remove(in: 0)
        let bound = Self.entry("new", partition: 1)
        self.directory.bind(self.token, to: bound)
        self.directory.forget(self.token, in: PartitionID(0))
        #expect(self.directory.lookup(self.token) == .bound(bound))
    }

    @Test(arguments: [0, 1] as [UInt16])
    func `of two removals the newer one counts`(newer: UInt16) {
        self.remove(in: newer, at: Sports.start + .hours(1))
        self.remove(in: 1 - newer)
        let removed = TokenLookup.removed(app: Sports.app, .unregistered, at: Sports.start + .hours(1))
        #expect(self.directory.lookup(self.token) == removed)
    }
}
