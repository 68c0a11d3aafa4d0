import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Rows are the same packed and unpacked.
@Suite struct PackingTests {
    /// Numbers as fields have them: ends, small ones, ones of every length, and near others.
    private static func number(_ random: inout SplitMix64) -> UInt64 {
        switch random.next() % 9 {
        case 0: 0
        case 1: .max
        case 2: random.next() % 4
        case 3: UInt64.max - random.next() % 4
        default: random.next() >> (random.next() % 64)
        }
    }

    private static func date(_ random: inout SplitMix64) -> Int64 {
        switch random.next() % 6 {
        case 0: .max
        case 1: .min
        case 2: Int64(bitPattern: self.number(&random))
        default: 1_793_638_800_000 + Int64(random.next() % 1_000_000_000) - 500_000_000
        }
    }

    private static func row(_ random: inout SplitMix64) -> InstanceTable.Row {
        // Some have hardly a field that is as usual.
        let unusual = random.next() % 8 == 0 ? 9 : random.next() % 5
        func number<Value: FixedWidthInteger>(_ usual: Value) -> Value {
            random.next() % 10 >= unusual ? usual : Value(truncatingIfNeeded: self.number(&random))
        }
        func date(_ usual: Int64) -> Int64 { random.next() % 10 >= unusual ? usual : self.date(&random) }
        let blank = InstanceTable.Row.blank
        var row = InstanceTable.Row(host: number(77), kind: number(3), anchor: number(400))
        row.flags = InstanceTable.Flags(rawValue: number(3)).intersection(.known)
        row.pending = CauseList(head: number(blank.pending.head), tail: number(blank.pending.tail), count: number(0))
        row.high = number(0)
        row.normal = number(0)
        row.waiting = ReloadCauses(rawValue: number(0))
        if row.pending.count == 0 { row.pending = CauseList() }
        row.reason = random.next() % 3 > 0 ? blank.reason : DecisionReason.allCases.randomElement(using: &random)!
        row.minExpiry = date(.max)
        row.decidesAt = date(.max)
        row.timelineDue = date(.max)
        row.heldUntil = date(.min)
        row.visibleUntil = date(.min)
        row.reloadsExpire = date(.max)
        row.freeSetupAt = date(.min)
        row.firstWindow = date(1_793_600_000_000)
        row.lastDecision = number(DecisionLog.none)
        row.configuredAt = LogPosition(number(123_456))
        row.nextOfHost = number(InstanceTable.none)
        row.rollingDay = number(Slab<RollingDay>.none)
        row.windowMinute = number(29_893_333)
        row.generation = number(1)
        row.allowance = number(40)
        row.firstLimit = number(.max)
        row.views = number(0)
        row.rate = ViewRate(scaled: number(ViewRate.typical.scaled))
        row.granted = number(0)
        row.firstReload = number(ReloadTable.none)
        row.lastReload = number(ReloadTable.none)
        row.exemptReloads = number(0)
        row.budget = ReloadBudget(
            ReloadBudget.Parts(
                reloaded: date(1_793_638_800_000),
                sinceCharge: number(.max),
                arrivalAhead: number(0),
                windowMinute: number(29_893_333),
                count: number(0),
                pushCount: number(0)
            )
        )
        guard random.next() % 2 == 0 else { return row }
        let (first, last, expire) = (row.firstReload, row.lastReload, row.reloadsExpire)
        let day = Interval.day.milliseconds
        let issuedAt = Instant(milliseconds: date(row.budget.parts.reloaded))
        let start = Instant(milliseconds: date(Int64(row.windowMinute) * 60_000))
        row.setOwnReload(
            ReloadTable.Stored(
                instance: 0,
                next: number(ReloadTable.none),
                position: LogPosition(number(row.configuredAt.rawValue)),
                issuedAt: issuedAt,
                expiresAt: Instant(milliseconds: date(issuedAt.milliseconds &+ day)),
                window: BudgetWindow(start: start, length: Interval(milliseconds: max(1, date(day)))),
                generation: number(row.generation),
                served: ReloadTable.none,
                causes: ReloadCauses(rawValue: number(1)),
                exemption: Exemption(rawValue: UInt8(random.next() % 12)),
                collateral: Collateral(rawValue: UInt8(random.next() % 3)),
                isCounted: random.next() % 2 == 0,
                isPush: random.next() % 2 == 0,
                sharesToken: random.next() % 2 == 0,
                isTrigger: random.next() % 2 == 0
            )
        )
        if unusual > 0 { (row.lastReload, row.reloadsExpire) = (last, expire) }
        // It is not its own any more.
        if unusual == 9 { row.firstReload = first }
        return row
    }

    /// All of a reload but whose it is.
    private static func fields(_ reload: ReloadTable.Stored) -> [Int64] {
        let flags = [reload.isCounted, reload.isPush, reload.sharesToken, reload.isTrigger].map { Int64($0 ? 1 : 0) }
        let numbers: [Int64] = [
            Int64(reload.next), Int64(bitPattern: reload.position.rawValue), reload.issuedAt.milliseconds,
            reload.expiresAt.milliseconds, reload.window.start.milliseconds, reload.window.length.milliseconds,
            Int64(reload.generation), Int64(reload.served), Int64(reload.causes.rawValue),
            Int64(reload.exemption?.rawValue ?? .max), Int64(reload.collateral?.rawValue ?? .max),
        ]
        return numbers + flags
    }

    /// All of a row.
    private static func fields(_ row: InstanceTable.Row) -> [Int64] {
        let budget = row.budget.parts
        let small: [UInt32] = [
            row.host, row.kind, row.anchor, UInt32(row.flags.rawValue), row.pending.head, row.pending.tail,
            row.pending.count, row.high, row.normal, UInt32(row.waiting.rawValue), UInt32(row.reason.rawValue),
            row.nextOfHost, row.rollingDay, row.windowMinute, row.generation, UInt32(row.allowance),
            UInt32(row.firstLimit), UInt32(row.views), UInt32(row.rate.scaled), UInt32(row.granted), row.firstReload,
            row.lastReload, row.exemptReloads, budget.sinceCharge, budget.arrivalAhead, budget.windowMinute,
            UInt32(budget.count), UInt32(budget.pushCount),
        ]
        let dates: [Int64] = [
            row.minExpiry, row.decidesAt, row.timelineDue, row.heldUntil, row.visibleUntil, row.reloadsExpire,
            row.freeSetupAt, row.firstWindow, budget.reloaded,
        ]
        let positions = [row.lastDecision, row.configuredAt.rawValue].map { Int64(bitPattern: $0) }
        // Where it is not the row's own there is nothing to keep.
        let reload = row.hasOwnReload ? row.ownReload : .blank
        return small.map { Int64($0) } + dates + positions + self.fields(reload)
    }

    /// Every field is named in ``fields(_:)``.
    @Test func `no field of a row is left out of what is compared`() {
        let budget = Mirror(reflecting: ReloadBudget().parts).children.count
        let row = Mirror(reflecting: InstanceTable.Row.blank).children.count
        let pending = Mirror(reflecting: CauseList()).children.count
        let reload = Mirror(reflecting: ReloadTable.Stored.blank).children.count
        #expect(reload - 1 + 1 == Self.fields(ReloadTable.Stored.blank).count, "a window has two, and whose it is none")
        // The budget, what waits, the reload and the padding are no fields of their own.
        #expect(row - 4 + budget + pending + reload == Self.fields(InstanceTable.Row.blank).count)
    }

    private static func packed(_ row: some PackedRow, at slot: UInt32) -> FieldWriter {
        var writer = FieldWriter()
        _ = row.packed(by: &writer, at: slot)
        return writer
    }

    /// How many bytes a row takes, in words of four, its shape's number included.
    private static func byteCount(_ row: some PackedRow, at slot: UInt32) -> Int {
        var writer = self.packed(row, at: slot)
        var shapes = RowShapes()
        writer.finish(&shapes)
        return writer.packed.wordCount * 4
    }

    @Test(arguments: UInt64(1)..<5)
    func `a row comes back as it was, whatever its fields, or is too long`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (packed, long) = (0, 0)
        for step in 0..<3000 {
            let row = Self.row(&random)
            let slot = UInt32(truncatingIfNeeded: Self.number(&random))
            // As if all numbers of shapes were given, every second time.
            var cells = PackedCells(shapesMax: step & 1)
            var writer = Self.packed(row, at: slot)
            guard let number = cells.insert(&writer) else {
                long += 1
                continue
            }
            packed += 1
            var reader = cells.reader(of: number)
            let back = InstanceTable.Row.blank.packed(by: &reader, at: slot)
            #expect(Self.fields(back) == Self.fields(row), "seed \(seed), step \(step)")
        }
        #expect(packed > 1000)
        #expect(long > 3)
    }

    private static func hostRow(_ random: inout SplitMix64) -> HostTable.Row {
        let unusual = random.next() % 8 == 0 ? 9 : random.next() % 5
        func number<Value: FixedWidthInteger>(_ usual: Value) -> Value {
            random.next() % 10 >= unusual ? usual : Value(truncatingIfNeeded: self.number(&random))
        }
        func date(_ usual: Int64) -> Int64 { random.next() % 10 >= unusual ? usual : self.date(&random) }
        func flag(_ usual: Bool) -> Bool { random.next() % 10 >= unusual ? usual : !usual }
        var row = HostTable.Row(
            app: number(0),
            windows: TunedWindows(
                startMinute: number(29_893_333),
                lengthMinutes: number(1440),
                views: flag(false) ? (0..<24).map { _ in number(0) } : []
            ),
            delivery: HostDelivery.allCases.randomElement(using: &random)!,
            registeredAt: Instant(milliseconds: date(1_793_638_800_000)),
            firstRegisteredAt: Instant(milliseconds: date(1_793_638_800_000))
        )
        row.isRegistered = flag(true)
        row.tellsVisibility = flag(false)
        row.isInStandBy = flag(false)
        row.isInLowPower = flag(false)
        row.isRegisteredByItself = flag(false)
        row.firstInstance = number(9_000_000)
        row.liveInstances = number(3)
        row.firstToken = number(3_000_000)
        row.contextNumber = number(HostContextTable.blank)
        row.revision = number(1)
        row.leaseEnds = flag(false) ? Instant(milliseconds: date(1_793_638_900_000)) : nil
        row.exemptUntil = date(.min)
        row.pushedAt = date(.min)
        if flag(false) {
            row.foregroundUntil = date(.min)
            for session in row.sessionsUntil.indices { row.sessionsUntil[session] = date(.min) }
            row.budgetInterval = number(0)
            row.budget = Self.row(&random).budget
        }
        return row
    }

    private static func fields(_ row: HostTable.Row) -> [Int64] {
        let small = [row.app, row.firstInstance, row.liveInstances, row.firstToken, row.contextNumber].map { Int64($0) }
        let flags = [
            row.isRegistered, row.tellsVisibility, row.isInStandBy, row.isInLowPower, row.isRegisteredByItself,
        ].map { $0 ? Int64(1) : 0 }
        let dates = [row.registeredAt, row.firstRegisteredAt, row.leaseEnds ?? Instant(milliseconds: .min)]
        let others = [
            Int64(row.delivery.rawValue), row.exemptUntil, row.pushedAt, Int64(bitPattern: row.revision),
            row.windows.startMinute, row.windows.lengthMinutes,
        ]
        let budget = row.budget.parts
        let seldom =
            [row.foregroundUntil, Int64(row.budgetInterval), budget.reloaded]
            + row.sessionsUntil.indices.map { row.sessionsUntil[$0] }
            + [budget.sinceCharge, budget.arrivalAhead, budget.windowMinute].map { Int64($0) }
            + [Int64(budget.count), Int64(budget.pushCount)]
        return small + flags + dates.map(\.milliseconds) + others + seldom + row.windows.views.map { Int64($0) }
    }

    @Test func `no field of a host's row is left out of what is compared`() {
        let row = Mirror(reflecting: HostTable.Row.blank).children.count
        let seldom = Mirror(reflecting: HostTable.Seldom()).children.count
        let budget = Mirror(reflecting: ReloadBudget().parts).children.count
        // The window is two fields and the sessions are three; what is seldom, its budget and the padding are none of their own.
        #expect(row + 1 - 2 + seldom + 2 - 1 + budget == Self.fields(HostTable.Row.blank).count)
    }

    @Test(arguments: UInt64(1)..<5)
    func `a host's row comes back as it was, or is too long`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (packed, long) = (0, 0)
        for step in 0..<3000 {
            let row = Self.hostRow(&random)
            let slot = UInt32(truncatingIfNeeded: Self.number(&random))
            var writer = Self.packed(row, at: slot)
            var cells = PackedCells(shapesMax: step & 1)
            guard let number = cells.insert(&writer) else {
                long += 1
                continue
            }
            packed += 1
            var reader = cells.reader(of: number)
            let back = HostTable.Row.blank.packed(by: &reader, at: slot)
            #expect(Self.fields(back) == Self.fields(row), "seed \(seed), step \(step)")
        }
        #expect(packed > 1000)
        #expect(long > 3)
    }

    @Test func `a host at rest takes sixteen bytes, and four more where it is looked at`() {
        var row = HostTable.Row(
            app: 0,
            windows: TunedWindows(startMinute: 29_893_293, lengthMinutes: 1440, views: []),
            delivery: .stream,
            registeredAt: Instant(milliseconds: 29_893_293 * 60_000 + 40_000_000),
            firstRegisteredAt: Instant(milliseconds: 29_893_293 * 60_000 + 40_000_000)
        )
        row.firstInstance = 9_000_000
        row.liveInstances = 3
        row.firstToken = 3_000_000
        row.revision = 1
        #expect(Self.byteCount(row, at: 3_000_000) == 16)
        for hour: Int64 in [7, 8, 12, 21] { row.windows.noteView(at: Instant(seconds: 3600 * hour)) }
        #expect(Self.byteCount(row, at: 3_000_000) == 20)
    }

    @Test func `every date comes back, seen from every other one`() {
        let dates: [Int64] = [
            .min, .min + 1, .min + 2, -2, -1, 0, 1, 2, 1_793_638_800_000, .max / 2, .max - 2, .max - 1, .max,
        ]
        for origin in dates {
            let ends = DateEnds(seenFrom: origin)
            #expect(dates.map { ends.date(ends.code($0)) } == dates, "from \(origin)")
            #expect(Set(dates.map { ends.code($0) }).count == dates.count, "from \(origin)")
            #expect((ends.code(.max), ends.code(.min)) == (0, 1))
            for date in dates {
                var writer = FieldWriter()
                writer.begin()
                _ = writer.past(date, near: origin)
                var cells = PackedCells()
                guard let number = cells.insert(&writer) else { continue }
                var reader = cells.reader(of: number)
                reader.begin()
                #expect(reader.past(0, near: origin) == date, "from \(origin)")
                if date == .min { #expect(writer.packed.count == PackedBytes.numberCount) }
            }
        }
    }

    /// The first reload of the last of nine million instances, issued when it was configured.
    private static let reloadAtRest: ReloadTable.Stored = {
        let window = BudgetWindow(start: Instant(milliseconds: 29_893_293 * 60_000), length: .day)
        let issuedAt = window.start + .milliseconds(40_000_000)
        return ReloadTable.Stored(
            instance: 9_000_000,
            next: ReloadTable.none,
            position: LogPosition(3_000_001),
            issuedAt: issuedAt,
            expiresAt: issuedAt + .day,
            window: window,
            generation: 1,
            served: ReloadTable.none,
            causes: ReloadCauses(.added),
            exemption: .added,
            collateral: nil,
            isCounted: false,
            isPush: false,
            sharesToken: false,
            isTrigger: false
        )
    }()

    /// What the tables of a large population are made of, so that nobody makes it longer unawares.
    @Test func `an instance at rest takes twenty-eight bytes, with the reload that is out`() {
        var row = InstanceTable.Row(host: 3_000_000, kind: 0, anchor: 333)
        row.nextOfHost = 9_000_001
        row.generation = 1
        row.configuredAt = LogPosition(3_000_001)
        row.windowMinute = 29_893_293
        row.firstWindow = 29_893_293 * 60_000
        row.allowance = 40
        row.firstLimit = 40
        row.budget.noteExempt(at: Instant(milliseconds: row.firstWindow + 40_000_000))
        row.freeSetupAt = row.firstWindow + 40_000_000
        row.exemptReloads = 1
        row.lastDecision = 9_000_000
        row.setOwnReload(Self.reloadAtRest)
        #expect(Self.byteCount(row, at: 9_000_000) == 28)
    }

    /// Against an array, few of whose rows are unpacked at a time.
    @Test(arguments: UInt64(1)..<5, [1, 2, 7])
    func `a table has the rows that were written to it`(seed: UInt64, awakeMax: Int) {
        var random = SplitMix64(seed: seed)
        var table = PackedSlab<InstanceTable.Row>(awakeMax: awakeMax)
        var model = Slab<InstanceTable.Row>()
        for step in 0..<800 {
            let slot = model.end == 0 ? 0 : UInt32(random.next() % UInt64(model.end))
            let isUsed = model.end > 0 && !model.free.contains(slot)
            switch random.next() % 8 {
            case 0, 1:
                let row = Self.row(&random)
                let numbers = (table.insert(row), model.insert(row))
                #expect(numbers.0 == numbers.1)
            case 2 where isUsed:
                table.release(slot)
                model.release(slot)
            case 3 where isUsed:
                table[slot].exemptReloads &+= 1
                model[slot].exemptReloads &+= 1
            case 4 where isUsed:
                let row = Self.row(&random)
                table[slot] = row
                model[slot] = row
            case 5 where isUsed: table.wake(slot)
            default: break
            }
            #expect((table.end, table.count, table.free) == (model.end, model.count, model.free))
            guard step.isMultiple(of: 40) else { continue }
            for slot in model.usedSlots() {
                #expect(Self.fields(table[slot]) == Self.fields(model[slot]), "seed \(seed), step \(step), row \(slot)")
            }
        }
    }

    @Test func `a copy of a table does not see what changes`() {
        var table = PackedSlab<InstanceTable.Row>(awakeMax: 2)
        for host in 0..<UInt32(9) { _ = table.insert(InstanceTable.Row(host: host, kind: 0, anchor: 0)) }
        let copy = table
        for slot in 0..<UInt32(9) { table[slot].generation = 5 }
        #expect((0..<9).map { copy[$0].generation } == Array(repeating: 0, count: 9))
        #expect((0..<9).map { table[$0].generation } == Array(repeating: 5, count: 9))
        #expect((0..<9).map { copy[$0].host } == Array(0..<9))
    }

    @Test func `rows that are read back keep their numbers`() {
        var table = PackedSlab<InstanceTable.Row>(free: [1, 4])
        for slot: UInt32 in [0, 2, 3] { table.restore(slot, InstanceTable.Row(host: slot, kind: 1, anchor: 2)) }
        table.finishRestoring(end: 6)
        #expect(table.end == 6)
        #expect(table.count == 4)
        #expect([0, 2, 3].map { table[$0].host } == [0, 2, 3])
        let next = table.insert(InstanceTable.Row(host: 9, kind: 1, anchor: 2))
        #expect(next == 4)
        #expect(table[4].host == 9)
        #expect(!table[5].isLive)
    }

    /// Cells of most lengths do not fill a chunk evenly: none may reach beyond its end.
    @Test(arguments: [1, 5, 12, 14, 16, 24, 32])
    func `cells of a length are used again, and lie within a chunk`(words: Int) {
        var cells = PackedCells()
        func length(_ number: UInt64) -> Int { (64 - number.leadingZeroBitCount + 7) / 8 }
        func textCount(_ number: UInt64) -> Int { words * 4 - PackedBytes.numberCount - length(number) }
        func insert(_ number: UInt64) -> UInt32 {
            var writer = FieldWriter()
            writer.begin()
            _ = writer.field(number)
            let bytes = Array(repeating: UInt8(truncatingIfNeeded: number), count: textCount(number))
            writer.append(bytes.span)
            return cells.insert(&writer)!
        }
        var numbers = (0..<UInt64(3000)).map { insert($0) }
        #expect(Set(numbers).count == 3000)
        for index in stride(from: 0, to: 3000, by: 2) { cells.release(numbers[index]) }
        let before = Set(numbers)
        for index in stride(from: 0, to: 3000, by: 2) { numbers[index] = insert(UInt64(index)) }
        #expect(Set(numbers) == before)
        #expect(cells.count == 3000)
        for (index, number) in numbers.enumerated() {
            var reader = cells.reader(of: number)
            reader.begin()
            #expect(reader.field(0) == UInt64(index))
            var left = textCount(UInt64(index))
            while left > 0 {
                let expected = UInt64(UInt8(truncatingIfNeeded: index)) &* 0x0101_0101_0101_0101
                let count = min(8, left)
                #expect(reader.bytes(count) == expected & .max >> UInt64(64 - count * 8))
                left -= count
            }
        }
    }

    /// A row that takes so many words, of a byte again and again.
    private static func text(_ words: Int) -> FieldWriter {
        var writer = FieldWriter()
        let bytes = Array(repeating: UInt8(words), count: words * 4 - PackedBytes.numberCount)
        writer.append(bytes.span)
        return writer
    }

    @Test func `what has no room among cells of its length goes to longer ones`() {
        var cells = PackedCells(wordsMax: 31)
        func insert(_ words: Int) -> UInt32? {
            var writer = Self.text(words)
            return cells.insert(&writer)
        }
        // Three cells of ten words are thirty; there are two of 11, 12 and 14, one of 16 and 24, none of 32.
        let numbers = (0..<11).map { _ in insert(10) }
        #expect(numbers.map { $0 != nil } == Array(repeating: true, count: 11))
        #expect(Set(numbers).count == 11)
        #expect(cells.count == 11)
        #expect(insert(10) == nil)
        #expect(insert(9) != nil)
        cells.release(numbers[10]!)
        #expect(insert(10) == numbers[10])
        for number in numbers {
            var reader = cells.reader(of: number!)
            #expect(reader.bytes(8) == 0x0A0A_0A0A_0A0A_0A0A)
        }
    }

    @Test func `what is longer than a cell can be is not taken`() {
        var cells = PackedCells()
        for (count, isTaken) in [(125, true), (126, true), (127, false), (128, false)] {
            var writer = FieldWriter()
            writer.begin()
            _ = writer.field(0)
            let bytes = Array(repeating: UInt8(1), count: count)
            writer.append(bytes.span)
            let number = cells.insert(&writer)
            #expect((number != nil) == isTaken, "\(count) bytes behind two")
        }
    }

    @Test func `a reload at rest takes twelve bytes`() {
        #expect(Self.byteCount(Self.reloadAtRest, at: 9_000_000) == 12)
    }

    @Test func `equal shapes have one number, and those that come when all are given have none`() {
        var shapes = RowShapes(countMax: 3)
        func shape(_ words: [UInt64]) -> RowShape {
            var shape = RowShape()
            for (index, word) in words.enumerated() { shape[index] = word }
            return shape
        }
        let all = [[], [1], [0, 1], [1, 0, 0, 0, 0, 0, 0, 1], [7]].map { shape($0) }
        #expect(all.map { shapes.number(of: $0) } == [0, 1, 2, nil, nil])
        #expect(all.map { shapes.number(of: $0) } == [0, 1, 2, nil, nil])
        for number in 0..<3 { #expect(shapes[number] == all[number]) }
        #expect(all[3] != all[1])
    }

    /// At the last number, and behind it.
    @Test func `as many shapes are told apart as two bytes have numbers for, and one more`() throws {
        var cells = PackedCells()
        let numbers = (0...UInt64(RowShapes.countMax)).map { number in
            var writer = FieldWriter()
            writer.begin()
            _ = writer.common(number)
            _ = writer.field(number)
            return cells.insert(&writer)
        }
        for (number, cell) in numbers.enumerated() {
            let cell = try #require(cell, "row \(number) was not kept")
            var reader = cells.reader(of: cell)
            reader.begin()
            let read = (reader.common(0), reader.field(0))
            if read != (UInt64(number), UInt64(number)) { Issue.record("row \(number) was read as \(read)") }
        }
    }

    /// Some of them have a number and some say it in the row, with words of all lengths.
    @Test func `a row that has no number of a shape says itself what it is`() {
        var cells = PackedCells(shapesMax: 20)
        let numbers = (0..<64).map { number in
            var writer = FieldWriter()
            for group in 0..<3 {
                writer.begin()
                _ = writer.common(group == 1 ? .max >> UInt64(number) : UInt64(number & 3))
                for field in 0..<UInt64(21) { _ = writer.field(field == UInt64(number) ? .max : 0) }
            }
            return cells.insert(&writer)!
        }
        for (index, number) in numbers.enumerated() {
            var reader = cells.reader(of: number)
            for group in 0..<3 {
                reader.begin()
                #expect(reader.common(0) == (group == 1 ? .max >> UInt64(index) : UInt64(index & 3)))
                for field in 0..<UInt64(21) { #expect(reader.field(0) == (field == UInt64(index) ? .max : 0)) }
            }
        }
    }
}
