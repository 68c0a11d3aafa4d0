import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// The ring of the last decisions, each in 48 bytes.
@Suite struct DecisionLogTests {
    @Test func `a decision takes forty-eight bytes`() {
        #expect(MemoryLayout<PackedDecision>.stride == 48)
    }

    private static func date(_ random: inout SplitMix64) -> Instant {
        Instant(milliseconds: Int64(random.next() % UInt64(ShortInstant.last.milliseconds)))
    }

    private static func entry(_ random: inout SplitMix64, previous: UInt64) -> DecisionLog.Entry {
        let hasPush = random.next() % 2 == 0
        return DecisionLog.Entry(
            at: Self.date(&random),
            position: LogPosition(random.next()),
            push: hasPush ? PushID(high: random.next(), low: random.next()) : PushID(high: 0, low: 0),
            previous: previous,
            until: random.next() % 2 == 0 ? .distantFuture : Self.date(&random),
            instance: InstanceNumber(raw: UInt32(truncatingIfNeeded: random.next())),
            cause: ReloadCause.allCases.randomElement(using: &random)!,
            outcome: PushOutcome.allCases.randomElement(using: &random)!,
            reason: DecisionReason.allCases.randomElement(using: &random)!,
            exemption: random.next() % 2 == 0 ? nil : Exemption.allCases.randomElement(using: &random),
            hasPush: hasPush
        )
    }

    private static func bytes(_ entry: DecisionLog.Entry) throws(ByteError) -> [UInt8] {
        var writer = StateWriter()
        _ = try entry.coded(by: &writer)
        return writer.writer.bytes
    }

    /// A log that went through a snapshot.
    private static func restored(_ log: borrowing DecisionLog) -> DecisionLog {
        var copy = DecisionLog(capacity: log.capacity, count: log.count)
        for place in 0..<log.kept {
            let isTaken = copy.restore(log.entry(atPlace: place))
            #expect(isTaken)
        }
        if log.kept > 0, log.kept == min(UInt64(log.capacity), log.count) {
            let isTaken = copy.restore(log.entry(atPlace: 0))
            #expect(!isTaken, "there is no room for one more")
        }
        return copy
    }

    /// Against an array of all decisions, of which as many are kept as the ring has room for. Numbers begin where the lower
    /// halves of them wrap around, too.
    @Test(arguments: UInt64(1)..<20, [0, 1 << 32 - 40] as [UInt64])
    func `the last decisions are kept as they were noted`(seed: UInt64, first: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let capacity = [1, 2, 7, 64][Int(random.next() % 4)]
        var log = DecisionLog(capacity: capacity, count: first)
        let start = log.count
        var all: [DecisionLog.Entry] = []
        for step in 0..<200 {
            let number = log.count
            // Often one that is kept no more.
            let back = 1 + random.next() % UInt64(capacity * 2)
            let previous = random.next() % 4 == 0 || number < start + back ? DecisionLog.none : number - back
            let entry = Self.entry(&random, previous: previous)
            all.append(entry)
            let noted = log.append(entry)
            #expect(noted == number)
            guard step % 10 == 0 else { continue }
            try Self.compare(log, with: all, from: start)
            try Self.compare(Self.restored(log), with: all, from: start)
        }
    }

    private static func compare(
        _ log: borrowing DecisionLog,
        with all: [DecisionLog.Entry],
        from start: UInt64
    ) throws {
        #expect(log.oldest == max(start, log.count - min(log.count, UInt64(log.capacity))))
        #expect(log[log.count] == nil)
        if log.oldest > 0 { #expect(log[log.oldest - 1] == nil) }
        for number in log.oldest..<log.count {
            // Which decision was before is known also where that is kept no more.
            let read = try #require(log[number])
            #expect(try Self.bytes(read) == Self.bytes(all[Int(number - start)]), "decision \(number)")
        }
    }

    /// A log of another capacity that takes over what it keeps, in slices of one unit.
    private static func resized(_ log: borrowing DecisionLog, to capacity: Int) -> DecisionLog {
        var other = log.successor(capacity: capacity)
        var (isDone, units) = (false, 1)
        while !isDone {
            isDone = other.fill(from: log, &units)
            units = 1
        }
        return other
    }

    @Test(arguments: [(10, 4), (10, 25), (3, 2), (64, 1), (90, 40), (90, 3)], [0, 1, 7, 100])
    func `another capacity keeps what has room`(capacities: (old: Int, new: Int), more: Int) throws {
        let (old, new) = capacities
        var random = SplitMix64(seed: 7)
        var log = DecisionLog(capacity: old)
        var all: [DecisionLog.Entry] = []
        // Nearly full, just full, and beyond.
        for number in 0..<UInt64(old - 1 + more) {
            all.append(Self.entry(&random, previous: number == 0 ? DecisionLog.none : number - 1))
            _ = log.append(all[Int(number)])
        }
        log = Self.resized(log, to: new)
        #expect(log.kept == min(old - 1 + more, old, new))
        // Numbers go on from there, until the ring is full and beyond.
        for step in 0...2 * new {
            #expect(log.count == all.count)
            if step < 3 || step % new < 2 {
                try Self.compare(log, with: all)
                try Self.compare(Self.restored(log), with: all)
            }
            all.append(Self.entry(&random, previous: UInt64(all.count - 1)))
            _ = log.append(all[all.count - 1])
        }
    }

    /// What is kept of a log is the newest of all decisions.
    private static func compare(_ log: borrowing DecisionLog, with all: [DecisionLog.Entry]) throws {
        for number in log.oldest..<log.count {
            #expect(try Self.bytes(#require(log[number])) == Self.bytes(all[Int(number)]))
        }
    }

    @Test func `a decision that is said to have come after a later one came after none`() {
        for (number, previous) in [(0, 0), (1, 1), (1, 2), (2, 500), (3, UInt64(1) << 33)] as [(UInt64, UInt64)] {
            var random = SplitMix64(seed: 11)
            var log = DecisionLog(capacity: 4, count: 4)
            for place in UInt64(0)..<4 {
                let entry = Self.entry(&random, previous: place == number ? previous : DecisionLog.none)
                let isTaken = log.restore(entry)
                #expect(isTaken)
            }
            #expect(log[number]?.previous == DecisionLog.none, "\(number) after \(previous)")
        }
    }
}
