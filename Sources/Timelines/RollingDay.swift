package import WidgetModel

/// The charges of one instance in the last 24 hours, in slots of five minutes: the data of the strict rule.
///
/// 289 slots, the present one and the 288 before it, one bit each, because two charged reloads are at least five
/// minutes apart. A charge counts until its slot is 24 hours past, so no 24 hours ever have more than the limit, and no
/// reload is held back more than five minutes too long. 48 bytes, kept only for policies that ask for it.
package struct RollingDay: ByteCoded, Sendable {
    /// The length of a slot; policies that count so have at least this minimum interval.
    package static let slot = Interval.minutes(5)
    /// A day and the slot that is not over yet.
    private static let slots: Int64 = 289

    /// The number of the newest slot that was written.
    private var newest: Int64 = 0
    /// Bit n is the slot n before the newest.
    private var bits = InlineArray<5, UInt64>(repeating: 0)

    package init() {}

    private static func slot(of instant: Instant) -> Int64 { instant.milliseconds / Self.slot.milliseconds }

    /// How many charges count at an instant that is not before the last charge.
    package func count(at now: Instant) -> Int { self.count(below: self.countedSlots(at: now)) }

    /// How many of the newest slots still count. Of a forged day that is to come, all.
    private func countedSlots(at now: Instant) -> Int64 { Self.slots - max(0, Self.slot(of: now) - self.newest) }

    /// How many of the newest so many slots are set.
    private func count(below slots: Int64) -> Int {
        var count = 0
        for word in 0..<5 {
            let kept = min(max(slots - Int64(word) * 64, 0), 64)
            let mask: UInt64 = kept == 64 ? .max : (1 << UInt64(kept)) - 1
            count += (self.bits[word] & mask).nonzeroBitCount
        }
        return count
    }

    /// The first instant, not before now, at which fewer than `limit` charges count.
    package func earliest(now: Instant, limit: Int) -> Instant {
        var left = self.count(at: now) - max(1, limit) + 1
        guard left > 0 else { return now }
        // The oldest that counts leaves first.
        var age = self.countedSlots(at: now) - 1
        while age >= 0 {
            if self.isSet(age) { left -= 1 }
            if left == 0 {
                return .epoch + Self.slot * (self.newest - age + Self.slots)
            }
            age -= 1
        }
        return now
    }

    private func isSet(_ age: Int64) -> Bool { self.bits[Int(age / 64)] >> UInt64(age % 64) & 1 == 1 }

    /// A reload is charged now.
    package mutating func charge(at now: Instant) {
        let step = max(0, Self.slot(of: now) - self.newest)
        self.shift(by: step)
        self.newest += step
        self.bits[0] |= 1
    }

    /// A charge is taken back, if it still counts.
    package mutating func refund(chargedAt instant: Instant) {
        let age = self.newest - Self.slot(of: instant)
        guard age >= 0, age < Self.slots else { return }
        self.bits[Int(age / 64)] &= ~(1 << UInt64(age % 64))
    }

    private mutating func shift(by count: Int64) {
        guard count > 0 else { return }
        guard count < 320 else {
            self.bits = InlineArray(repeating: 0)
            return
        }
        let (words, bits) = (Int(count / 64), UInt64(count % 64))
        for word in (0..<5).reversed() {
            let high = word - words >= 0 ? self.bits[word - words] << bits : 0
            let low = word - words - 1 >= 0 && bits > 0 ? self.bits[word - words - 1] >> (64 - bits) : 0
            self.bits[word] = high | low
        }
    }

    /// For digests and snapshots of a state.
    package func encode(into writer: inout ByteWriter) {
        writer.write(signed: self.newest)
        for word in 0..<5 { writer.write(fixed64: self.bits[word]) }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        self.newest = try reader.readSigned(in: 0...1 << 40)
        for word in 0..<5 { self.bits[word] = try reader.readFixed64() }
    }
}
