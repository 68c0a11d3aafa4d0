import APNSWire
import Gateway
import Testing
import WidgetModel

@Suite struct HostDirectoryTests {
    private let directory = HostDirectory(seed: 7)
    private let token = Sports.token("phone")

    private static func entry(_ host: String, _ instance: String? = nil, partition: UInt16 = 0) -> HostDirectory.Entry {
        HostDirectory.Entry(
            host: HostID(host),
            app: Sports.app,
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

    @Test func `a token nobody spoke of is unknown`() {
        #expect(self.directory.lookup(self.token) == .unknown)
        #expect(self.directory.count == 0)
    }

    @Test func `a token is bound, bound anew, removed and forgotten`() {
        self.directory.bind(self.token, to: Self.entry("a"))
        #expect(self.directory.lookup(self.token) == .bound(Self.entry("a")))
        self.directory.bind(self.token, to: Self.entry("a", "control"))
        #expect(self.directory.lookup(self.token) == .bound(Self.entry("a", "control")))
        self.remove(in: 0)
        #expect(self.directory.lookup(self.token) == .removed(app: Sports.app, at: Sports.start))
        #expect(self.directory.count == 1)
        self.directory.forget(self.token, in: PartitionID(0))
        #expect(self.directory.lookup(self.token) == .unknown)
        #expect(self.directory.count == 0)
    }

    @Test func `tokens are told apart by every byte and by length`() {
        let tokens = [[1, 2, 3], [1, 2], [1, 2, 4], [2, 2, 3], [1, 2, 3, 0]].map { DeviceToken(bytes: $0) }
        for (index, token) in tokens.enumerated() { self.directory.bind(token, to: Self.entry("host-\(index)")) }
        #expect(tokens.map { self.directory.lookup($0) } == (0..<5).map { .bound(Self.entry("host-\($0)")) })
        #expect(
            tokens.map { self.directory.lookup(Self.words($0.hex)) } == (0..<5).map { .bound(Self.entry("host-\($0)")) }
        )
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
        #expect(self.directory.lookup(self.token) == .removed(app: Sports.app, at: Sports.start + .hours(1)))
    }
}
