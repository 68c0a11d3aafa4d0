extension TimerCalendar {
    /// What is wrong with the calendar's insides; empty if nothing is. For tests: O(entries).
    package func checkInvariants() -> [String] {
        var faults: [String] = []
        var live = Array(repeating: 0, count: self.buckets.count)
        var firstSecond = Int.max
        var armed = 0
        for second in self.due where second != Self.unarmed {
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
        for (index, bucket) in self.buckets.enumerated() {
            chunks += (Int(bucket.total) + TimerChunks.entries - 1) / TimerChunks.entries
            if Int(bucket.live) != live[index] {
                faults.append("bucket \(index) counts \(bucket.live) live timers, not \(live[index])")
            }
            if self.sortedLive(of: index).count != live[index] {
                faults.append(
                    "bucket \(index) lists \(self.sortedLive(of: index).count) live timers, not \(live[index])"
                )
            }
            let dues = self.sortedLive(of: index).map { self.due[Int($0)] }
            if bucket.firstCount > 0, index >= Self.firstBlock,
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
            if self.bit(of: index) == (bucket.live == 0) {
                faults.append("the bit of bucket \(index) is wrong")
            }
        }
        if chunks != self.chunks.used {
            faults.append("\(self.chunks.used) chunks in use, not \(chunks)")
        }
        if self.chunks.used + self.chunks.freeCount != self.chunks.count {
            faults.append("chunks are lost")
        }
        return faults
    }

    private func bit(of bucket: Int) -> Bool? {
        if bucket < Self.firstBlock {
            return self.secondBits[bucket >> 6] >> UInt64(bucket & 63) & 1 == 1
        }
        guard bucket < Self.beyond else { return nil }
        let block = bucket - Self.firstBlock
        return self.blockBits[block >> 6] >> UInt64(block & 63) & 1 == 1
    }

    /// The bytes of the calendar's arrays, roughly.
    package var footprint: Int {
        self.due.capacity * 4 + self.chunks.storage.capacity * 4 + self.buckets.count * 16
    }
}
