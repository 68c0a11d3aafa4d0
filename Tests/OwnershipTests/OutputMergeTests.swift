import Engine
import Journaling
import Ownership
import TestSupport
import Testing
import WidgetModel

/// The outputs of a partition whose owner comes and goes.
@Suite struct OutputMergeTests {
    private static func output(_ position: UInt64) -> CommittedEffects {
        CommittedEffects([], at: OutputPosition(position))
    }

    private static func published(_ actions: [OutputMergeAction]) -> [UInt64] {
        actions.compactMap { if case .publish(let output) = $0 { output.position.rawValue } else { nil } }
    }

    @Test func `an owner that is here is all there is`() {
        var merge = OutputMerge()
        merge.takeNews(.begins(behind: OutputPosition(4)))
        #expect(merge.takeActions() == [.begin(at: OutputPosition(5))])
        for position in UInt64(5)...7 { merge.takeNews(.committed(Self.output(position))) }
        #expect(Self.published(merge.takeActions()) == [5, 6, 7])
    }

    @Test func `what is elsewhere is read from the newest on, until the owner comes`() {
        var merge = OutputMerge()
        merge.follow()
        #expect(merge.takeActions() == [.read(from: nil, session: 1)])
        merge.readingBegins(at: OutputPosition(3), in: 1)
        merge.outputRead(Self.output(3), in: 1)
        #expect(merge.takeActions() == [.begin(at: OutputPosition(3)), .publish(Self.output(3))])
        merge.takeNews(.begins(behind: OutputPosition(3)))
        #expect(!merge.isReading(in: 1))
        merge.outputRead(Self.output(4), in: 1)
        merge.takeNews(.committed(Self.output(4)))
        #expect(Self.published(merge.takeActions()) == [4])
        merge.takeNews(.ends)
        #expect(merge.takeActions() == [.read(from: OutputPosition(5), session: 2)])
        merge.follow()
        #expect(merge.takeActions() == [])
    }

    @Test func `an owner that is ahead is caught up with by reading`() {
        var merge = OutputMerge()
        merge.follow()
        merge.readingBegins(at: OutputPosition(1), in: 1)
        merge.takeNews(.begins(behind: OutputPosition(2)))
        merge.takeNews(.committed(Self.output(3)))
        #expect(merge.isReading(in: 1))
        merge.outputRead(Self.output(1), in: 1)
        merge.outputRead(Self.output(2), in: 1)
        merge.takeNews(.committed(Self.output(4)))
        merge.outputRead(Self.output(3), in: 1)
        #expect(merge.isReading(in: 1))
        merge.outputRead(Self.output(4), in: 1)
        #expect(!merge.isReading(in: 1))
        merge.takeNews(.committed(Self.output(5)))
        #expect(Self.published(merge.takeActions()) == [1, 2, 3, 4, 5])
    }

    @Test func `an owner's own word may come before what was read of it`() {
        var merge = OutputMerge()
        merge.follow()
        merge.readingBegins(at: OutputPosition(1), in: 1)
        merge.takeNews(.begins(behind: OutputPosition(1)))
        merge.outputRead(Self.output(1), in: 1)
        merge.takeNews(.committed(Self.output(2)))
        #expect(!merge.isReading(in: 1))
        #expect(Self.published(merge.takeActions()) == [1, 2])
    }

    @Test func `what was let go of before it was read is told as missing`() {
        var merge = OutputMerge()
        merge.follow()
        merge.readingBegins(at: OutputPosition(1), in: 1)
        merge.outputRead(Self.output(1), in: 1)
        _ = merge.takeActions()
        merge.readingBegins(at: OutputPosition(1), in: 1)
        #expect(merge.takeActions() == [])
        merge.outputRead(Self.output(9), in: 1)
        #expect(merge.takeActions() == [.begin(at: OutputPosition(9)), .publish(Self.output(9))])
        merge.readingBegins(at: OutputPosition(20), in: 1)
        #expect(merge.takeActions() == [.begin(at: OutputPosition(20))])
    }

    /// Owners that come, go, are fenced and die, readers that lag, and a log that lets go of its beginning.
    @Test(arguments: Seeds.from(1, count: 200))
    func `every output comes once and in order, or is told as missing`(seed: UInt64) {
        var luck = SplitMix64(seed: seed)
        var (first, newest): (UInt64, UInt64) = (1, luck.next() % 3)
        var merge = OutputMerge()
        var told: [UInt64] = []
        var isHere = false
        var reading: (session: Int, next: UInt64?)?
        var (expected, missing): (UInt64?, Int) = (nil, 0)
        func follow() {
            for action in merge.takeActions() {
                switch action {
                case .begin(let position):
                    #expect(position.rawValue > expected ?? 0)
                    if expected != nil { missing += 1 }
                    expected = position.rawValue
                case .publish(let output):
                    #expect(output.position.rawValue == expected)
                    expected = output.position.rawValue + 1
                case .read(let position, let session):
                    #expect(position?.rawValue == expected)
                    reading = (session, position?.rawValue)
                }
            }
        }
        func read() {
            guard let session = reading?.session, merge.isReading(in: session) else { return reading = nil }
            let next = max(reading?.next ?? (newest > 4 ? newest - 3 : 1), first)
            if reading?.next.map({ $0 < next }) ?? true {
                merge.readingBegins(at: OutputPosition(next), in: session)
            } else if next <= newest {
                merge.outputRead(Self.output(next), in: session)
                return reading = (session, next + 1)
            }
            reading = (session, next)
        }
        merge.follow()
        follow()
        for _ in 0..<400 {
            switch luck.next() % 12 {
            case 0...3:
                newest += 1
                if isHere { told.append(newest) }
            case 4, 5: if !told.isEmpty { merge.takeNews(.committed(Self.output(told.removeFirst()))) }
            case 6 where !isHere && told.isEmpty:
                isHere = true
                merge.takeNews(.begins(behind: newest == 0 ? nil : OutputPosition(newest)))
            case 7 where isHere:
                // Outputs that it had committed and not told yet are for others to read.
                (isHere, told) = (false, [])
                merge.takeNews(.ends)
            case 8 where luck.chance(1, in: 8): first = max(first, newest - min(newest, luck.next() % 4))
            default: read()
            }
            follow()
        }
        while !told.isEmpty { merge.takeNews(.committed(Self.output(told.removeFirst()))) }
        for _ in 0..<1000 {
            follow()
            read()
        }
        follow()
        #expect(expected == newest + 1)
        #expect(first > 1 || missing == 0)
    }
}
