import TestSupport
import Testing
import Timelines
import WidgetModel

@Suite struct BudgetWindowTests {
    @Test func `a window holds its start and not its end`() {
        #expect(!today.contains(today.start - .milliseconds(1)))
        #expect(today.contains(today.start))
        #expect(today.contains(today.end - .milliseconds(1)))
        #expect(!today.contains(today.end))
        #expect(today.next == BudgetWindow(start: today.end, length: .day))
    }

    @Test(arguments: [0, 1, 719, 720, 721, 1439])
    func `the window around an instant starts at the anchor, in UTC`(anchor: Int) {
        let start = noon - .hours(12) + .minutes(Int64(anchor))
        let expected = BudgetWindow(start: start <= noon ? start : start - .days(1), length: .day)
        #expect(BudgetWindow.containing(noon, anchoredAt: anchor) == expected)
        #expect(BudgetWindow.containing(expected.start, anchoredAt: anchor) == expected)
        #expect(BudgetWindow.containing(expected.end - .milliseconds(1), anchoredAt: anchor) == expected)
        #expect(BudgetWindow.containing(expected.end, anchoredAt: anchor) == expected.next)
    }

    @Test func `windows before the epoch are no special case`() {
        let window = BudgetWindow.containing(Instant(milliseconds: -1), anchoredAt: 60)
        #expect(window == BudgetWindow(start: Instant.epoch - .hours(23), length: .day))
        #expect(
            BudgetWindow.containing(.epoch - .hours(23), anchoredAt: 60)
                == BudgetWindow(start: Instant.epoch - .hours(23), length: .day)
        )
    }

    @Test func `anchors spread over the minutes of the day and stay the same for ever`() {
        var counts = Array(repeating: 0, count: 24)
        for number in 0..<24_000 {
            counts[BudgetWindow.anchor(of: HostKey("host-\(number)")) / 60] += 1
        }
        #expect(counts.allSatisfy { (900...1100).contains($0) }, "\(counts)")
        // Part of the on-disk meaning: replay has to find the same windows.
        #expect((0..<3).map { BudgetWindow.anchor(of: HostKey("host-\($0)")) } == [1425, 791, 1372])
        #expect((0..<60).contains(BudgetWindow.anchor(of: HostKey("host-0"), length: .hours(1))))
    }

    @Test func `a policy that counts from midnight UTC has no anchor`() {
        #expect(BudgetPolicy.homeAssistant.anchor(of: HostKey("host")) == 0)
        #expect(BudgetPolicy.homeAssistant.window(containing: noon, anchoredAt: 0) == today)
        let hour = BudgetPolicy.trmnl.window(containing: noon, anchoredAt: 17)
        #expect(hour == BudgetWindow(start: noon - .minutes(43), length: .hours(1)))
    }

    @Test func `policy reloads spread evenly over their slot, the same for all of a host and never early`() {
        let slot = Interval.minutes(5)
        var counts = Array(repeating: 0, count: 100)
        for number in 0..<100_000 {
            let offset = Smoothing.offset(host: HostKey("host-\(number)"), date: noon, slot: slot)
            // An offset outside the slot would be out of bounds here.
            counts[Int(offset.milliseconds / 3_000)] += 1
        }
        // 1,000 expected in each; 10 % is three standard deviations, and the hash is fixed.
        #expect(counts.allSatisfy { (900...1100).contains($0) }, "\(counts)")
        let host = HostKey("host-1")
        let offset = Smoothing.offset(host: host, date: noon, slot: slot)
        #expect(offset == .milliseconds(219_293))
        #expect(offset != Smoothing.offset(host: host, date: noon + .days(1), slot: slot))
        #expect(Smoothing.offset(host: host, date: noon, slot: .zero) == .zero)
        #expect(Smoothing.offset(host: host, date: noon, slot: .milliseconds(-5)) == .zero)
        #expect(Smoothing.offset(host: host, date: noon, slot: .milliseconds(1)) == .zero)
    }

    @Test func `partition, anchor and smoothing of a host have nothing to do with each other`() {
        // Of the hosts of one partition in eight, an eighth has its anchor in each eighth of the day.
        var anchors = Array(repeating: 0, count: 8)
        var offsets = Array(repeating: 0, count: 8)
        for number in 0..<64_000 {
            let host = HostKey("host-\(number)")
            guard StableHash.reduce(StableHash.of(host), below: 8) == 3 else { continue }
            anchors[BudgetWindow.anchor(of: host) / 180] += 1
            offsets[Int(Smoothing.offset(host: host, date: noon, slot: .seconds(8)).milliseconds / 1000)] += 1
        }
        #expect(anchors.allSatisfy { (850...1150).contains($0) }, "\(anchors)")
        #expect(offsets.allSatisfy { (850...1150).contains($0) }, "\(offsets)")
    }
}
