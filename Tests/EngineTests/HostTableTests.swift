import Storage
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Fields that hosts seldom have lie apart from their rows, and contexts that many hosts share are kept once.
@Suite struct HostTableTests {
    private static func row(_ id: String) -> HostTable.Row {
        HostTable.Row(
            app: 0,
            windows: TunedWindows(host: HostKey(id), at: .epoch),
            delivery: .stream,
            registeredAt: .epoch,
            firstRegisteredAt: .epoch
        )
    }

    private static func sessions(_ row: HostTable.Row) -> [Instant] {
        row.coldFields.sessionsUntil.indices.map { row.coldFields.sessionsUntil[$0] }
    }

    private static func context(_ locale: String, width: Double? = 170) -> HostContext {
        HostContext(
            width: width,
            height: 170,
            environmentVariants: [HostContext.Variant(name: "colorScheme", values: ["light", "dark"])],
            locale: locale,
            timeZone: "America/Los_Angeles"
        )
    }

    @Test func `a host has a date for each session`() {
        let sessions = HostTable.ColdFields().sessionsUntil
        #expect(sessions.indices == 0..<HostSession.allCases.count)
    }

    @Test func `rows take whole lines of memory, or few`() {
        #expect(MemoryLayout<HostTable.Row>.size == 128)
        #expect(MemoryLayout<HostTable.Name>.size == 8)
        #expect(MemoryLayout<TokenTable.Row>.stride == 44)
        #expect(MemoryLayout<ReloadTable.Row>.stride == 64)
        #expect(MemoryLayout<InstanceTable.Row>.stride == 32)
        #expect(MemoryLayout<RestingRow>.stride == 64)
        #expect(MemoryLayout<ColdRow>.stride == 32)
        #expect(MemoryLayout<ActiveRow>.stride == 64)
    }

    @Test func `what most hosts never have takes room from its first change to its last`() {
        var row = Self.row("phone")
        row.coldFields.foregroundUntil = .distantPast
        row.coldFields.budget = ReloadBudget()
        row.coldFields.budgetInterval = 0
        #expect(!row.hasColdFields)
        #expect(Self.sessions(row) == [.distantPast, .distantPast, .distantPast])
        let ends = Instant(milliseconds: 7)
        row.coldFields.sessionsUntil[1] = ends
        #expect(row.hasColdFields)
        row.coldFields.foregroundUntil = Instant(milliseconds: 8)
        row.coldFields.budgetInterval = 9
        row.coldFields.budget.noteExempt(at: Instant(seconds: 10))
        #expect(Self.sessions(row) == [.distantPast, ends, .distantPast])
        #expect(row.coldFields.foregroundUntil == Instant(milliseconds: 8))
        #expect(row.coldFields.budgetInterval == 9)
        #expect(row.coldFields.budget.lastReload == Instant(seconds: 10))
        row.coldFields.sessionsUntil[1] = .distantPast
        row.coldFields.foregroundUntil = .distantPast
        row.coldFields.budgetInterval = 0
        #expect(row.hasColdFields)
        row.coldFields.budget = ReloadBudget()
        #expect(!row.hasColdFields)
    }

    @Test func `a copy does not see what changes apart from the row`() {
        var row = Self.row("phone")
        let (first, second) = (Instant(milliseconds: 1), Instant(milliseconds: 2))
        row.coldFields.foregroundUntil = first
        let copy = row
        row.coldFields.foregroundUntil = second
        #expect(copy.coldFields.foregroundUntil == first)
        #expect(row.coldFields.foregroundUntil == second)
    }

    @Test func `a lease is what was said, and none is none`() {
        var row = Self.row("phone")
        #expect(row.leaseEnds == nil)
        for end in [Instant.epoch, .distantFuture, Instant(milliseconds: -1)] {
            row.leaseEnds = end
            #expect(row.leaseEnds == end)
        }
        row.leaseEnds = nil
        #expect(row.leaseEnds == nil)
    }

    @Test func `a number that is used again has nothing of the host before`() {
        var hosts = HostTable(seed: 1)
        let first = hosts.insert(Self.row("phone"), named: HostKey("phone"), saying: Self.context("en-US"))
        hosts.rows[first].coldFields.foregroundUntil = Instant(milliseconds: 5)
        hosts.release(first)
        #expect(!hosts.rows[first].hasColdFields)
        #expect(hosts.contexts.count == 0)
        let second = hosts.insert(Self.row("tablet"), named: HostKey("tablet"), saying: HostContext())
        #expect(second == first)
        #expect(hosts.context(of: second) == HostContext())
        #expect(hosts.rows[second].coldFields.foregroundUntil == .distantPast)
        #expect(hosts.find(HostKey("phone")) == nil)
        #expect(hosts.find(HostKey("tablet")) == second)
    }

    @Test func `names are those of the moment, also where hosts go and their numbers are used again`() {
        var hosts = HostTable(seed: 4)
        let padding = String(repeating: "x", count: 100)
        var numbers: [String: HostNumber] = [:]
        func expectNames(_ note: String) {
            let app = HostKey("").app
            for (id, number) in numbers {
                let found = hosts.number(ofHost: Array(id.utf8), of: app)
                #expect(found == number, "\(note)")
            }
            let other = hosts.number(ofHost: Array("another".utf8), of: app)
            #expect(other == nil, "\(note)")
            var found: [String: HostNumber] = [:]
            var last = -1
            hosts.forEachHost(in: HostNumber(3)..<HostNumber(5000)) { number, id in
                #expect(Int(number.raw) > last, "\(note)")
                last = Int(number.raw)
                if id.count > 0 { found[String(decoding: id.indices.map { id[$0] }, as: UTF8.self)] = number }
            }
            #expect(found == numbers.filter { $0.value >= 3 }, "\(note)")
        }
        func insert(_ id: String) {
            numbers[id] = hosts.insert(Self.row(id), named: HostKey(id), saying: HostContext())
        }
        for number in 0..<2000 { insert("h\(number)-\(padding)") }
        expectNames("all")
        for number in 0..<1500 { numbers.removeValue(forKey: "h\(number)-\(padding)").map { hosts.release($0) } }
        expectNames("some gone")
        for number in 0..<100 { insert("new-\(number)") }
        expectNames("others with their numbers")
    }

    @Test func `hosts are found by their ids, and have them`() {
        var hosts = HostTable(seed: 5)
        let ids = (0..<40).map { $0 == 7 ? String(repeating: "ü", count: 200) : "host-\($0)" }
        for (number, id) in ids.enumerated() {
            let slot = hosts.insert(Self.row(id), named: HostKey(id), saying: HostContext())
            hosts.rows[slot].revision = UInt64(number)
            if number.isMultiple(of: 5) {
                hosts.rows[slot].coldFields.foregroundUntil = Instant(seconds: Int64(number))
            }
            guard number.isMultiple(of: 7) else { continue }
            hosts.rows[slot].windows.noteView(at: Instant(seconds: 3600 * Int64(number)))
        }
        for (number, id) in ids.enumerated() {
            let slot = HostNumber(number)
            #expect(hosts.find(HostKey(id)) == slot)
            #expect(hosts.find(Array("-\(HostKey(id).text)-".utf8), in: 1..<HostKey(id).text.utf8.count + 1) == slot)
            #expect(hosts.find(HostKey(id + "x")) == nil)
            #expect(hosts.id(of: slot) == HostID(id))
            #expect(hosts.rows[slot].revision == UInt64(number))
            let foreground = number.isMultiple(of: 5) ? Instant(seconds: Int64(number)) : .distantPast
            #expect(hosts.rows[slot].coldFields.foregroundUntil == foreground)
            #expect(hosts.rows[slot].windows.views.isEmpty != number.isMultiple(of: 7))
        }
        hosts.release(3)
        #expect(hosts.id(of: 3) == HostID(""))
        #expect(hosts.find(HostKey("host-3")) == nil)
    }

    @Test(arguments: [0, 1]) func `a key that is too long for its row is refused where it is read back`(more: Int)
        throws
    {
        func read(_ key: HostKey, _ rest: [UInt8]) throws -> HostTable.Record {
            var writer = StateWriter()
            _ = writer.text(key.text)
            var reader = StateReader(writer.writer.bytes + rest)
            return try HostTable.Record.blank.coded(by: &reader)
        }
        var writer = StateWriter()
        let phone = HostTable.Record(key: HostKey("phone"), row: Self.row("phone"), context: HostContext())
        _ = try phone.coded(by: &writer)
        let rest = Array(writer.writer.bytes.dropFirst(1 + phone.key.text.utf8.count))
        #expect(try read(phone.key, rest).key == phone.key)
        let length = Int(UInt16.max) - HostKey("").text.utf8.count + more
        let long = HostKey(String(repeating: "x", count: length))
        if more == 0 {
            #expect(try read(long, rest).key == long)
        } else {
            #expect(throws: ByteError.self) { try read(long, rest) }
        }
    }

    @Test(arguments: [0, 1]) func `ids that are too long for their rows make no registration`(more: Int) {
        func isRead(_ host: String, _ instance: String) -> Bool {
            var writer = ByteWriter()
            HostRegistration(
                host: HostKey(host),
                token: Scene.token("phone"),
                revision: 1,
                instances: [Scene.scores(instance, team: "seahawks")]
            ).encode(into: &writer)
            var reader = ByteReader(writer.bytes)
            return (try? HostRegistration(from: &reader)) != nil
        }
        let length = Int(UInt16.max) + more
        let host = String(repeating: "x", count: length - HostKey("").text.utf8.count)
        let areRead = [isRead(host, "w1"), isRead("phone", String(repeating: "w", count: length))]
        #expect(areRead == [more == 0, more == 0])
    }

    @Test func `an instance that lives is in its host's list`() async {
        await #expect(processExitsWith: .failure) {
            var registry = Registry(seed: 1)
            let host = registry.insertHost(
                HostTableTests.row("phone"),
                named: HostKey("phone"),
                saying: HostContext()
            )
            let row = InstanceTable.Row(host: host, kind: KindNumber(0))
            let instance = registry.insertInstance(InstanceID("w1"), .systemSmall, row)
            registry.link([instance], to: host)
            registry.unlink(instance)
        }
    }

    @Test func `what hosts say alike is kept once, as long as one of them says it`() {
        var hosts = HostTable(seed: 2)
        let slots = (0..<10).map { number in
            hosts.insert(
                Self.row("h\(number)"),
                named: HostKey("h\(number)"),
                saying: number == 9 ? HostContext() : Self.context("l\(number % 3)")
            )
        }
        #expect(hosts.contexts.count == 3)
        #expect(slots.map { hosts.context(of: $0).locale } == (0..<9).map { "l\($0 % 3)" } + [nil])
        hosts.setContext(of: slots[0], Self.context("l1"))
        hosts.setContext(of: slots[3], HostContext())
        #expect(hosts.contexts.count == 3)
        hosts.release(slots[6])
        #expect(hosts.contexts.count == 2)
        #expect(hosts.context(of: slots[0]) == Self.context("l1"))
        // Said again by the same host, alone with it.
        hosts.setContext(of: slots[9], Self.context("l9"))
        hosts.setContext(of: slots[9], Self.context("l9"))
        #expect(hosts.context(of: slots[9]) == Self.context("l9"))
        for slot in slots where slot != slots[6] { hosts.setContext(of: slot, HostContext()) }
        #expect(hosts.contexts.count == 0)
    }

    @Test func `a context that says nothing has the bytes of its fields, and no other has`() throws {
        var writer = ByteWriter()
        HostContext.coding.encode(HostContext(), into: &writer)
        #expect(HostContext().encoded == writer.bytes)
        #expect(try HostContext(encoded: writer.bytes) == HostContext())
        let zero = HostContext(width: 0)
        #expect(try HostContext(encoded: zero.encoded) == zero)
    }

    @Test func `contexts that are equal but not spelled alike stay what they are`() {
        var hosts = HostTable(seed: 3)
        let contexts = [
            Self.context("caf\u{E9}"), Self.context("cafe\u{301}"), Self.context("de", width: 0),
            Self.context("de", width: -0.0),
            Self.context("de", width: nil), Self.context("de", width: .nan), HostContext(locale: "de"),
            HostContext(timeZone: "de"),
        ]
        let slots = contexts.enumerated().map { hosts.insert(Self.row("h\($0)"), named: HostKey("h\($0)"), saying: $1) }
        #expect(hosts.contexts.count == contexts.count)
        func bytes(_ context: HostContext) -> [UInt8] {
            var writer = ByteWriter()
            context.encode(into: &writer)
            return writer.bytes
        }
        #expect(slots.map { bytes(hosts.context(of: $0)) } == contexts.map(bytes))
        let again = hosts.insert(Self.row("again"), named: HostKey("again"), saying: Self.context("de", width: .nan))
        #expect(hosts.contexts.count == contexts.count)
        #expect(hosts.rows[again].contextNumber == hosts.rows[slots[5]].contextNumber)
    }
}
