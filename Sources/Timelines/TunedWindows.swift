package import WidgetModel

/// The windows of one host, about a day long each, that open at the hour with the fewest views of the host.
///
/// Apple: "WidgetKit tunes the 24-hour window to the user's daily usage pattern, which means the daily budget doesn't
/// necessarily reset at exactly midnight" (Keeping a widget up to date). Apple does not say how; this is ours. Views
/// are counted by hour of the day in UTC, and an eighth of them is forgotten whenever a window opens. The windows'
/// start moves towards the hour with the fewest views on the shorter way round the clock, by at most an hour a window:
/// so windows are 23, 24 or 25 hours long, follow each other without a gap, and never overlap. Of several such hours
/// the nearest counts, of two equally near ones the later. The minute of the hour is the host's own, by hash.
///
/// No timer opens a window: the next access opens those that are due, with the same result at any time.
package struct TunedWindows: ByteCoded, Sendable {
    /// How many hours views are counted by.
    package static let hours = 24
    /// The start of the present window, in minutes since the epoch.
    package private(set) var startMinute: Int64
    package private(set) var lengthMinutes: Int64 = 1440
    /// Decayed views by hour of the day, in 64ths; empty without views, as for most hosts.
    package private(set) var views: [UInt16] = []

    /// The windows of a host about which nothing is known: whole days from a minute that a hash of it picks.
    package init(host: HostKey, at now: Instant) {
        let window = BudgetWindow.containing(now, anchoredAt: BudgetWindow.anchor(of: host))
        self.startMinute = window.start.milliseconds / 60_000
    }

    /// The present window, the last one that was opened.
    package var window: BudgetWindow {
        BudgetWindow(
            start: Instant(milliseconds: self.startMinute * 60_000),
            length: .minutes(self.lengthMinutes)
        )
    }

    /// When the next window opens.
    @inline(__always)
    package var end: Instant { Instant(milliseconds: (self.startMinute + self.lengthMinutes) * 60_000) }

    /// Opens the next window, which begins where the present one ends.
    package mutating func openNext() {
        for hour in self.views.indices {
            // Rounded up, so that an hour without views comes down to zero in the end.
            self.views[hour] -= (self.views[hour] >> 3) + (self.views[hour] & 7 == 0 ? 0 : 1)
        }
        if self.views.allSatisfy({ $0 == 0 }) { self.views = [] }
        self.startMinute += self.lengthMinutes
        self.lengthMinutes = 1440 + self.step * 60
    }

    /// The user looked at one of the host's instances, in the present window.
    package mutating func noteView(at now: Instant) {
        let hour = Self.hour(ofMinute: now.milliseconds / 60_000)
        if self.views.isEmpty { self.views = Array(repeating: 0, count: Self.hours) }
        let (sum, overflow) = self.views[hour].addingReportingOverflow(64)
        self.views[hour] = overflow ? .max : sum
    }

    /// Which way the start goes: an hour earlier, not at all, or an hour later.
    private var step: Int64 {
        guard !self.views.isEmpty else { return 0 }
        let here = Self.hour(ofMinute: self.startMinute)
        var best = (views: self.views[here], distance: 0, step: Int64(0))
        for distance in 1...12 {
            for step in [1, -1] as [Int64] {
                let views = self.views[(here + Int(step) * distance + 24) % 24]
                if views < best.views { best = (views, distance, step) }
            }
        }
        return best.step
    }

    private static func hour(ofMinute minute: Int64) -> Int {
        let hour = Int((minute / 60) % 24)
        return hour < 0 ? hour + 24 : hour
    }
}

extension TunedWindows {
    /// For digests and snapshots of a state.
    package func encode(into writer: inout ByteWriter) {
        writer.write(signed: self.startMinute)
        writer.write(signed: self.lengthMinutes)
        for hour in 0..<Self.hours { writer.write(varint: self.views.isEmpty ? 0 : UInt64(self.views[hour])) }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        // A day before the epoch is where the first window can start; 25 hours are the longest.
        self.startMinute = try reader.readSigned(in: -1440...1 << 40)
        self.lengthMinutes = try reader.readSigned(in: 1...1500)
        // A byte for each hour.
        if reader.skipZeroes(Self.hours) { return }
        for hour in 0..<Self.hours {
            let start = reader.offset
            guard let views = UInt16(exactly: try reader.readVarint()) else { throw .invalid(offset: start) }
            guard views > 0 else { continue }
            if self.views.isEmpty { self.views = Array(repeating: 0, count: Self.hours) }
            self.views[hour] = views
        }
    }
}
