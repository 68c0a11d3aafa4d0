import IntentMatching
import Storage
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Fields that few instances have take memory for those alone.
@Suite struct InstanceDetailsTests {
    private static let digest = ContentDigest(team: 3, bytes: [1, 2, 3])
    private static let bears = Configuration([Configuration.Parameter(name: "team", value: .string("bears"))])
    private static let token = DeviceToken(bytes: Array(repeating: 7, count: 32))

    /// Puts an instance under a number.
    @discardableResult
    private static func insert(_ id: String, _ slot: InstanceNumber, into details: inout InstanceDetails)
        -> InstanceNumber
    {
        details.insert(slot, InstanceDetails.Row(id: InstanceID(id), family: .systemMedium))
        return slot
    }

    /// How many rows each group has.
    private static func counts(_ details: borrowing InstanceDetails) -> [Int] {
        [details.coldFields.count, details.content.count, details.observed.count]
    }

    /// A table with one instance of number 0, which has something of every group.
    private static func full() -> InstanceDetails {
        var details = InstanceDetails()
        let slot = Self.insert("full", 0, into: &details)
        details.setConfiguration(of: slot, Self.bears)
        details[coldFields: slot] = InstanceDetails.ColdFields(
            tags: ["a", "b"],
            when: .all([]),
            controlToken: Self.token,
            controlEnvironment: .development
        )
        details[content: slot].confirmedDigest = Self.digest
        details.setConfirmedBy(of: slot, LogPosition(9))
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
            viewedAt: Instant(seconds: 1),
            systemChangeAt: Instant(seconds: 2),
            awaitsReport: Instant(seconds: 3),
            awaitsLook: true,
            observedReloads: 4,
            collateralReloads: 5,
            collateralOverReloads: 6
        )
        return details
    }

    /// The written bytes of an instance.
    private static func bytes(_ details: borrowing InstanceDetails, _ slot: InstanceNumber) throws -> [UInt8] {
        var writer = StateWriter()
        let whole = details.whole(slot)
        _ = try InstanceShape(kind: 0, whole, details.configuration(of: slot)).coded(by: &writer)
        _ = writer.text(whole.row.id.rawValue)
        _ = try whole.coded(by: &writer, InstanceGroups(.blank, whole).coded(by: &writer))
        return writer.writer.bytes
    }

    /// An id and a configuration of every length around whole words, and around the longest text that is not kept
    /// apart.
    @Test(arguments: [0, 1, 6, 7, 8, 9, 40, 63, 64, 65, 200, 240, 247, 248, 249, 250, 253, 254, 255, 256, 257, 5000])
    func `an instance keeps its id and configuration whatever their lengths`(length: Int) {
        var details = InstanceDetails()
        let text = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
        let long = Configuration([Configuration.Parameter(name: "team", value: .string(text))])
        Self.insert(text, 0, into: &details)
        Self.insert("short", 1, into: &details)
        for slot: InstanceNumber in 0...1 {
            let id = details.id(of: slot)
            for configuration in [long, Self.bears, .empty, long] {
                details.setConfiguration(of: slot, configuration)
                details[observed: slot].observedReloads += 1
                let isAlike = [long, Self.bears, .empty].map { details.isConfigured(slot, as: $0) }
                #expect(isAlike == [long, Self.bears, .empty].map { $0 == configuration })
                #expect(details.configuration(of: slot) == configuration)
                #expect(details.id(of: slot) == id)
                #expect(details.family(of: slot) == .systemMedium)
            }
            details.setFamily(of: slot, .accessoryInline)
            #expect(details.family(of: slot) == .accessoryInline)
            #expect(details[observed: slot].observedReloads == 4)
        }
        #expect(details.id(of: 0) == InstanceID(text))
        #expect(details.checkInvariants(of: [0, 1]) == [])
        for slot: InstanceNumber in 0...1 { details.release(slot) }
        #expect(details.texts.count == 0)
        #expect(details.checkInvariants(of: []) == [])
    }

    @Test func `a default that is written to an instance without a group takes no row`() {
        var details = InstanceDetails()
        let slot = Self.insert("plain", 0, into: &details)
        details[coldFields: slot].tags = []
        details[coldFields: slot].when = nil
        details[coldFields: slot].controlToken = nil
        details[coldFields: slot].controlEnvironment = .production
        details[content: slot].confirmedDigest = nil
        details.setConfirmedBy(of: slot, .start)
        details[content: slot].unshown = nil
        details[content: slot].timeline = nil
        details[observed: slot].awaitsReport = .distantPast
        details[observed: slot].awaitsLook = false
        details[observed: slot].observedReloads += 0
        #expect(Self.counts(details) == [0, 0, 0])
        #expect(details[observed: slot].viewedAt == .distantPast)
        #expect(details.confirmedBy(of: slot) == .start)
        #expect(details[coldFields: slot].controlEnvironment == .production)
    }

    @Test func `each group takes a row with its first field and no more with the next`() {
        var details = InstanceDetails()
        Self.insert("before", 0, into: &details)
        let slot = Self.insert("one", 1, into: &details)
        details[observed: slot].observedReloads += 1
        #expect(Self.counts(details) == [0, 0, 1])
        details[observed: slot].observedReloads += 1
        details[observed: slot].awaitsLook = true
        #expect(Self.counts(details) == [0, 0, 1])
        details.setConfirmedBy(of: slot, LogPosition(2))
        #expect(Self.counts(details) == [0, 0, 1])
        details[content: slot].confirmedDigest = Self.digest
        #expect(Self.counts(details) == [0, 1, 1])
        details[coldFields: slot].tags = ["t"]
        #expect(Self.counts(details) == [1, 1, 1])
        #expect(details[observed: slot].observedReloads == 2)
        #expect(details[content: slot].confirmedDigest == Self.digest)
        #expect(details[observed: 0].observedReloads == 0)
    }

    @Test func `a group that is blank again is written as none`() throws {
        var details = InstanceDetails()
        let slot = Self.insert("plain", 0, into: &details)
        let before = try Self.bytes(details, slot)
        details[coldFields: slot].tags = ["t"]
        details[content: slot].pendingDigest = Self.digest
        details[observed: slot].awaitsLook = true
        #expect(try Self.bytes(details, slot) != before)
        details[coldFields: slot].tags = []
        details[content: slot].pendingDigest = nil
        details[observed: slot].awaitsLook = false
        #expect(try Self.bytes(details, slot) == before)
        #expect(Self.counts(details) == [1, 1, 1], "the rows are there for the next")
    }

    @Test func `every field alone makes a group that is kept`() {
        let coldFields: [(inout InstanceDetails.ColdFields) -> Void] = [
            { $0.tags = [""] }, { $0.when = .all([]) }, { $0.controlToken = Self.token },
            { $0.controlEnvironment = .development },
        ]
        let content: [(inout InstanceDetails.Content) -> Void] = [
            { $0.confirmedDigest = Self.digest },
            { $0.pendingDigest = Self.digest }, { $0.shownEntry = .epoch },
            { $0.unshown = InstanceDetails.Unshown(position: .start, acceptedAt: .epoch) },
            { $0.timeline = Self.full()[content: 0].timeline },
        ]
        let observed: [(inout InstanceDetails.Observed) -> Void] = [
            { $0.viewedAt = .epoch }, { $0.systemChangeAt = .epoch }, { $0.awaitsReport = .epoch },
            { $0.awaitsLook = true }, { $0.observedReloads = 1 }, { $0.collateralReloads = 1 },
            { $0.collateralOverReloads = 1 },
        ]
        var details = InstanceDetails()
        var next: InstanceNumber = 0
        func insert() -> InstanceNumber {
            next = next.advanced(by: 1)
            return Self.insert("i\(next)", next, into: &details)
        }
        for change in coldFields { change(&details[coldFields: insert()]) }
        for change in content { change(&details[content: insert()]) }
        for change in observed { change(&details[observed: insert()]) }
        #expect(Self.counts(details) == [coldFields.count, content.count, observed.count])
    }

    @Test func `what is released is blank when its number is used again`() {
        var details = Self.full()
        let slot = InstanceNumber(0)
        details.release(slot)
        #expect(Self.counts(details) == [0, 0, 0])
        #expect(details.texts.count == 0)
        let again = Self.insert("again", slot, into: &details)
        #expect(details[content: again].confirmedDigest == nil)
        #expect(details.confirmedBy(of: again) == .start)
        details[content: again].shownEntry = .epoch
        details[coldFields: again].tags = ["x"]
        details[observed: again].viewedAt = .epoch
        #expect(Self.counts(details) == [1, 1, 1])
        #expect(details[content: again].confirmedDigest == nil)
        #expect(details[content: again].timeline == nil)
        #expect(details[content: again].unshown == nil)
        #expect(details[coldFields: again].controlToken == nil)
        #expect(details[coldFields: again].controlEnvironment == .production)
        #expect(details[observed: again].observedReloads == 0)
    }

    @Test func `an instance that is cleared keeps its id and family`() {
        var details = Self.full()
        let slot = InstanceNumber(0)
        details.clear(slot)
        #expect(Self.counts(details) == [0, 0, 0])
        #expect(details.id(of: slot) == InstanceID("full"))
        #expect(details.family(of: slot) == .systemMedium)
        details.release(slot)
        #expect(Self.counts(details) == [0, 0, 0])
    }

    @Test func `an instance takes its configuration along when it goes`() {
        var details = InstanceDetails()
        let slots = [Self.insert("a", 0, into: &details), Self.insert("b", 1, into: &details)]
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
        #expect(details.id(of: slots[0]) == InstanceID("a"))
        details.release(slots[1])
        #expect(details.configuration(of: slots[1]) == .empty)
        #expect(details.texts.count == 1)
    }

    @Test func `what its content is known from takes no row of a group, and comes back`() throws {
        var details = InstanceDetails()
        let slot = Self.insert("one", 0, into: &details)
        details.setConfiguration(of: slot, Self.bears)
        details.setConfirmedBy(of: slot, LogPosition(.max))
        details.setFamily(of: slot, .systemLarge)
        details.setConfirmedBy(of: slot, LogPosition(70_000))
        #expect(Self.counts(details) == [0, 0, 0])
        #expect(details.family(of: slot) == .systemLarge)
        #expect(details.id(of: slot) == InstanceID("one"))
        #expect(details.configuration(of: slot) == Self.bears)
        let bytes = try Self.bytes(details, slot)
        var reader = StateReader(bytes)
        let shape = try InstanceShape.blank.coded(by: &reader)
        let row = InstanceDetails.Row(id: InstanceID(try reader.text("")), family: shape.family)
        let groups = try InstanceGroups([]).coded(by: &reader)
        #expect(groups.contains(.content))
        let whole = try InstanceDetails.Whole(row: row).coded(by: &reader, groups)
        var restored = InstanceDetails()
        restored.restore(0, whole, shape.configuration)
        #expect(restored.confirmedBy(of: 0) == LogPosition(70_000))
        #expect(Self.counts(restored) == [0, 0, 0])
        #expect(try Self.bytes(restored, 0) == bytes)
        details.clear(slot)
        #expect(details.confirmedBy(of: slot) == .start)
    }

    @Test func `all of an instance comes back from what was written of it`() throws {
        let details = Self.full()
        let bytes = try Self.bytes(details, 0)
        var reader = StateReader(bytes)
        let shape = try InstanceShape.blank.coded(by: &reader)
        let id = InstanceID(try reader.text(""))
        let row = InstanceDetails.Row(id: id, family: shape.family)
        let tags = InstanceDetails.Whole(row: row, coldFields: InstanceDetails.ColdFields(tags: shape.tags))
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
        #expect(restored.confirmedBy(of: 1) == LogPosition(9))
        #expect(content.pendingDigest == ContentDigest(team: 4, bytes: []))
        #expect(content.shownEntry == .epoch)
        #expect(content.unshown?.position == LogPosition(8))
        #expect(content.timeline?.timeline == Timeline(entries: [], policy: .atEnd, digest: [5]))
        #expect(content.timeline?.findings == [.empty])
        #expect(content.timeline?.equalDigests == 2)
        #expect(restored[coldFields: 1].tags == ["a", "b"])
        #expect(restored[coldFields: 1].controlToken == Self.token)
        #expect(restored[coldFields: 1].controlEnvironment == .development)
        #expect(restored[observed: 1].systemChangeAt == Instant(seconds: 2))
        #expect(restored[observed: 1].collateralOverReloads == 6)
    }

    @Test func `a group that became blank again is written as if it never was`() throws {
        var details = InstanceDetails()
        let (plain, changed) = (Self.insert("i", 0, into: &details), Self.insert("i", 1, into: &details))
        details[observed: changed].awaitsLook = true
        details[observed: changed].awaitsLook = false
        details[coldFields: changed].tags = ["t"]
        details[coldFields: changed].tags = []
        #expect(try Self.bytes(details, changed) == Self.bytes(details, plain))
    }
}
