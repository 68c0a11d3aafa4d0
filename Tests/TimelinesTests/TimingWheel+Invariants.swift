import Storage

@testable import Timelines

extension TimingWheel {
    /// The violated invariants of the wheel; empty if there are none. O(entries).
    func checkInvariants() -> [String] {
        var faults: [String] = []
        var live = Array(repeating: 0, count: self.buckets.count)
        var firstSecond = Int.max
        var armed = 0
        for index in 0..<self.due.count where self.due[index] != Self.unarmed {
            let second = self.due[index]
            live[self.bucket(of: Int(second))] += 1
            firstSecond = min(firstSecond, Int(second))
            armed += 1
        }
        if armed != self.count { faults.append("count is \(self.count), armed are \(armed)") }
        if self.first ?? .max != firstSecond {
            faults.append("first second is \(String(describing: self.first)), but \(firstSecond) is due")
        }
        if self.cursor >> Self.blockShift != self.block {
            faults.append("the cursor is not in block \(self.block)")
        }
        var chunks = 0
        for (index, bucket) in self.buckets.enumerated() where bucket.total + bucket.live > 0 || live[index] > 0 {
            chunks += (Int(bucket.total) + TimerChunks.entries - 1) / TimerChunks.entries
            if Int(bucket.live) != live[index] {
                faults.append("bucket \(index) counts \(bucket.live) live timers, not \(live[index])")
            }
            let ids = self.live(of: index)
            if ids.count != live[index] {
                faults.append("bucket \(index) lists \(ids.count) live timers, not \(live[index])")
            }
            let dues = ids.map { self.due[Int($0)] }
            if bucket.firstCount > 0, index >= Self.late,
                dues.min() != bucket.first || dues.count(where: { $0 == bucket.first }) != bucket.firstCount
            {
                faults.append("bucket \(index) is wrong about its first second \(bucket.first)")
            }
            if bucket.live == 0, bucket.total > 0 {
                faults.append("bucket \(index) holds stale entries only")
            }
            if bucket.total > 2 * bucket.live + UInt32(TimerChunks.entries) {
                faults.append("bucket \(index) is mostly stale: \(bucket.live) of \(bucket.total)")
            }
        }
        if chunks != self.chunks.used {
            faults.append("\(self.chunks.used) chunks in use, not \(chunks)")
        }
        if self.chunks.used + self.chunks.freeCount != self.chunks.count {
            faults.append("chunks are lost")
        }
        return faults + self.faultsOfBits()
    }

    /// The ids that are armed for a bucket, each once.
    private func live(of bucket: Int) -> Set<UInt32> {
        var ids: Set<UInt32> = []
        var walk = TimerChunks.Walk(self.buckets[bucket])
        while let id = self.chunks.next(&walk) {
            let second = self.due[Int(id)]
            if second != Self.unarmed, self.bucket(of: Int(second)) == bucket { ids.insert(id) }
        }
        return ids
    }

    private func faultsOfBits() -> [String] {
        var faults: [String] = []
        for second in 0..<Self.blockSeconds
        where self.secondBits >> UInt64(second) & 1 != (self.buckets[second].live > 0 ? 1 : 0) {
            faults.append("the bit of second \(second) is wrong")
        }
        for (place, first) in self.places.enumerated() {
            var bits: UInt64 = 0
            if first != Self.none {
                for block in 0..<Self.blockSeconds where self.buckets[Int(first) + block].live > 0 {
                    bits |= 1 << UInt64(block)
                }
            }
            if self.blockBits[place] != bits { faults.append("the bits of the blocks at place \(place) are wrong") }
            if self.groupBits[place >> 6] >> UInt64(place & 63) & 1 != (bits == 0 ? 0 : 1) {
                faults.append("the bit of the group at place \(place) is wrong")
            }
        }
        return faults
    }
}
