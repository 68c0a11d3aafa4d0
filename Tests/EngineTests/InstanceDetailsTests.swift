import IntentMatching
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// What few instances have takes memory only where it is had.
@Suite struct InstanceDetailsTests {
    private static let digest = ContentDigest(team: 3, bytes: [1, 2, 3])
    private static let bears = Configuration([Configuration.Parameter(name: "team", value: .string("bears"))])
    private static let token = DeviceToken(bytes: Array(repeating: 7, count: 32))

    private static func row(_ id: String) -> InstanceDetails.Row {
        InstanceDetails.Row(id: InstanceID(id), family: .systemMedium)
    }

    /// How many rows each group has.
    private static func counts(_ details: InstanceDetails) -> [Int] {
        [details.particulars.count, details.content.count, details.observed.count]
    }

    /// A table with one instance, which has something of every group.
    private static func full() -> (details: InstanceDetails, slot: UInt32) {
        var details = InstanceDetails()
        let slot = details.insert(Self.row("full"))
        details.setConfiguration(of: slot, Self.bears)
        details[particulars: slot] = InstanceDetails.Particulars(
            tags: ["a", "b"],
            when: .all([]),
            controlToken: Self.token,
            controlEnvironment: .development
        )
        details[content: slot].confirmedDigest = Self.digest
        details[content: slot].confirmedBy = LogPosition(9)
        details[content: slot].pendingDigest = ContentDigest(team: 4, bytes: [])
        details[content: slot].shownEntry = .epoch
        details[content: slot].unshown = InstanceDetails.Unshown(position: LogPosition(8), acceptedAt: .epoch)
        details[content: slot].timeline = InstanceDetails.Shown(
            timeline: Timeline(entries: [], policy: .atEnd, digest: [5]),
            receivedAt: Instant(seconds: 1),
            findings: [.empty],
            equalDigests: 2
        )
        details[observed: slot] = InstanceDetails.Observed(
            viewedAt: 1,
            systemChangeAt: 2,
            awaitsReport: 3,
            awaitsLook: true,
            observedReloads: 4,
            collateralReloads: 5,
            collateralOverReloads: 6
        )
        return (details, slot)
    }

    /// What is written of an instance.
    private static func bytes(_ details: InstanceDetails, _ slot: UInt32) throws -> [UInt8] {
        var writer = StateWriter()
        let whole = details.whole(slot)
        _ = try InstanceShape(kind: 0, whole, details.configuration(of: slot)).coded(by: &writer)
        _ = writer.text(whole.row.id.rawValue)
        _ = try whole.coded(by: &writer, InstanceGroups(.blank, whole).coded(by: &writer))
        return writer.writer.bytes
    }

    @Test func `a plain instance takes forty bytes`() {
        #expect(MemoryLayout<InstanceDetails.Row>.stride == 40)
    }

    @Test func `a default that is written to an instance without a group takes no row`() {
        var details = InstanceDetails()
        let slot = details.insert(Self.row("plain"))
        details[particulars: slot].tags = []
        details[particulars: slot].when = nil
        details[particulars: slot].controlToken = nil
        details[particulars: slot].controlEnvironment = .production
        details[content: slot].confirmedDigest = nil
        details[content: slot].confirmedBy = .start
        details[content: slot].unshown = nil
        details[content: slot].timeline = nil
        details[observed: slot].awaitsReport = .min
        details[observed: slot].awaitsLook = false
        details[observed: slot].observedReloads += 0
        #expect(Self.counts(details) == [0, 0, 0])
        #expect(details[observed: slot].viewedAt == .min)
        #expect(details[content: slot].confirmedBy == .start)
        #expect(details[particulars: slot].controlEnvironment == .production)
    }

    @Test func `each group takes a row with its first field and no more with the next`() {
        var details = InstanceDetails()
        _ = details.insert(Self.row("before"))
        let slot = details.insert(Self.row("one"))
        details[observed: slot].observedReloads += 1
        #expect(Self.counts(details) == [0, 0, 1])
        details[observed: slot].observedReloads += 1
        details[observed: slot].awaitsLook = true
        #expect(Self.counts(details) == [0, 0, 1])
        details[content: slot].confirmedBy = LogPosition(2)
        details[content: slot].confirmedDigest = Self.digest
        #expect(Self.counts(details) == [0, 1, 1])
        details[particulars: slot].tags = ["t"]
        #expect(Self.counts(details) == [1, 1, 1])
        #expect(details[observed: slot].observedReloads == 2)
        #expect(details[content: slot].confirmedDigest == Self.digest)
        #expect(details[observed: 0].observedReloads == 0)
    }

    @Test func `every field alone makes a group that is kept`() {
        let particulars: [(inout InstanceDetails.Particulars) -> Void] = [
            { $0.tags = [""] }, { $0.when = .all([]) }, { $0.controlToken = Self.token },
            { $0.controlEnvironment = .development },
        ]
        let content: [(inout InstanceDetails.Content) -> Void] = [
            { $0.confirmedDigest = Self.digest }, { $0.confirmedBy = LogPosition(1) },
            { $0.pendingDigest = Self.digest }, { $0.shownEntry = .epoch },
            { $0.unshown = InstanceDetails.Unshown(position: .start, acceptedAt: .epoch) },
            { $0.timeline = Self.full().details[content: 0].timeline },
        ]
        let observed: [(inout InstanceDetails.Observed) -> Void] = [
            { $0.viewedAt = 0 }, { $0.systemChangeAt = 0 }, { $0.awaitsReport = 0 }, { $0.awaitsLook = true },
            { $0.observedReloads = 1 }, { $0.collateralReloads = 1 }, { $0.collateralOverReloads = 1 },
        ]
        var details = InstanceDetails()
        for change in particulars { change(&details[particulars: details.insert(Self.row("p"))]) }
        for change in content { change(&details[content: details.insert(Self.row("c"))]) }
        for change in observed { change(&details[observed: details.insert(Self.row("o"))]) }
        #expect(Self.counts(details) == [particulars.count, content.count, observed.count])
    }

    @Test func `what is released is blank when its number is used again`() {
        var (details, slot) = Self.full()
        details.release(slot)
        #expect(Self.counts(details) == [0, 0, 0])
        let again = details.insert(Self.row("again"))
        #expect(again == slot)
        #expect(details[content: again].confirmedDigest == nil)
        details[content: again].confirmedBy = LogPosition(1)
        details[particulars: again].tags = ["x"]
        details[observed: again].viewedAt = 1
        #expect(Self.counts(details) == [1, 1, 1])
        #expect(details[content: again].confirmedDigest == nil)
        #expect(details[content: again].timeline == nil)
        #expect(details[content: again].unshown == nil)
        #expect(details[particulars: again].controlToken == nil)
        #expect(details[particulars: again].controlEnvironment == .production)
        #expect(details[observed: again].observedReloads == 0)
    }

    @Test func `an instance that is cleared keeps its id and family`() {
        var (details, slot) = Self.full()
        details.clear(slot)
        #expect(Self.counts(details) == [0, 0, 0])
        #expect(details[slot].id == InstanceID("full"))
        #expect(details[slot].family == .systemMedium)
        details.release(slot)
        #expect(Self.counts(details) == [0, 0, 0])
    }

    @Test func `a copy does not see what changes`() throws {
        var (details, slot) = Self.full()
        let copy = details
        let before = try Self.bytes(copy, slot)
        details[content: slot].confirmedDigest = nil
        details[observed: slot].awaitsLook = false
        details[particulars: slot].tags = []
        details.release(slot)
        #expect(try Self.bytes(copy, slot) == before)
    }

    @Test func `an instance takes its configuration along when it goes`() {
        var details = InstanceDetails()
        let slots = ["a", "b"].map { details.insert(Self.row($0)) }
        #expect(details.configuration(of: slots[0]) == .empty)
        for slot in slots { details.setConfiguration(of: slot, Self.bears) }
        let isAlike = [Self.bears, .empty].map { details.isConfigured(slots[0], as: $0) }
        #expect(isAlike == [true, false])
        details.setConfiguration(of: slots[0], .empty)
        let isBare = [Self.bears, .empty].map { details.isConfigured(slots[0], as: $0) }
        #expect(isBare == [false, true])
        #expect(details.configuration(of: slots[1]) == Self.bears)
        details.setConfiguration(of: slots[0], Self.bears)
        details.clear(slots[0])
        #expect(details.configuration(of: slots[0]) == .empty)
        #expect(details.configurations.count > 0)
        details.release(slots[1])
        #expect(details.configurations.count == 0)
    }

    @Test func `all of an instance comes back from what was written of it`() throws {
        let (details, slot) = Self.full()
        let bytes = try Self.bytes(details, slot)
        var reader = StateReader(bytes)
        let shape = try InstanceShape.blank.coded(by: &reader)
        let id = InstanceID(try reader.text(""))
        let row = InstanceDetails.Row(id: id, family: shape.family)
        let tags = InstanceDetails.Whole(row: row, particulars: InstanceDetails.Particulars(tags: shape.tags))
        let whole = try tags.coded(by: &reader, InstanceGroups([]).coded(by: &reader))
        #expect(reader.isAtEnd)
        var restored = InstanceDetails()
        // One before it was free.
        restored.restore(1, whole, shape.configuration)
        #expect(try Self.bytes(restored, 1) == bytes)
        #expect(Self.counts(restored) == [1, 1, 1])
        #expect(restored.configuration(of: 1) == Self.bears)
        let content = restored[content: 1]
        #expect(content.confirmedDigest == Self.digest)
        #expect(content.confirmedBy == LogPosition(9))
        #expect(content.pendingDigest == ContentDigest(team: 4, bytes: []))
        #expect(content.shownEntry == .epoch)
        #expect(content.unshown?.position == LogPosition(8))
        #expect(content.timeline?.timeline == Timeline(entries: [], policy: .atEnd, digest: [5]))
        #expect(content.timeline?.findings == [.empty])
        #expect(content.timeline?.equalDigests == 2)
        #expect(restored[particulars: 1].tags == ["a", "b"])
        #expect(restored[particulars: 1].controlToken == Self.token)
        #expect(restored[particulars: 1].controlEnvironment == .development)
        #expect(restored[observed: 1].systemChangeAt == 2)
        #expect(restored[observed: 1].collateralOverReloads == 6)
    }

    @Test func `a group that became blank again is written as if it never was`() throws {
        var details = InstanceDetails()
        let (plain, changed) = (details.insert(Self.row("i")), details.insert(Self.row("i")))
        details[observed: changed].awaitsLook = true
        details[observed: changed].awaitsLook = false
        details[particulars: changed].tags = ["t"]
        details[particulars: changed].tags = []
        #expect(try Self.bytes(details, changed) == Self.bytes(details, plain))
    }
}
