extension TimerCalendar {
    /// The bucket that a timer due at a second is in, as time stands.
    func bucket(of second: Int) -> Int {
        if second < self.cursor { return Self.late }
        let block = second >> Self.blockShift
        if block == self.block { return second & (Self.blockSeconds - 1) }
        if block - self.block < Self.blocks { return Self.firstBlock + (block & (Self.blocks - 1)) }
        return Self.beyond
    }

    private mutating func setBit(_ bucket: Int, _ isSet: Bool) {
        if bucket < Self.firstBlock {
            self.secondBits[bucket >> 6].set(bucket & 63, isSet)
        } else if bucket < Self.beyond {
            let block = bucket - Self.firstBlock
            self.blockBits[block >> 6].set(block & 63, isSet)
        }
    }

    /// Adds the entry of an id that is due at a second.
    mutating func link(_ id: UInt32, to bucket: Int, second: Int) {
        self.chunks.append(id, to: &self.buckets[bucket])
        self.buckets[bucket].live += 1
        self.buckets[bucket].noteArmed(UInt32(second))
        if self.buckets[bucket].live == 1 { self.setBit(bucket, true) }
    }

    /// Leaves the entry of an id behind, which has been disarmed or is due elsewhere now.
    mutating func unlink(from bucket: Int, second: Int) {
        self.buckets[bucket].live -= 1
        self.buckets[bucket].noteGone(UInt32(second))
        self.tidy(bucket)
    }

    /// Throws a bucket away if nothing in it lives, and compacts it if more than half of it is stale.
    mutating func tidy(_ bucket: Int) {
        let live = Int(self.buckets[bucket].live)
        if live == 0 {
            self.empty(bucket)
        } else if Int(self.buckets[bucket].total) > 2 * live + TimerChunks.entries {
            let ids = self.collectLive(of: bucket)
            self.chunks.release(&self.buckets[bucket])
            for id in ids { self.chunks.append(id, to: &self.buckets[bucket]) }
        }
    }

    mutating func empty(_ bucket: Int) {
        self.chunks.release(&self.buckets[bucket])
        self.buckets[bucket].live = 0
        self.buckets[bucket].firstCount = 0
        self.setBit(bucket, false)
    }

    /// The ids that are armed for this bucket, each once and sorted: what is dealt out to the seconds then lies there in
    /// order, and the due seconds are read one after the other. With ten million timers that is worth the sorting.
    func sortedLive(of bucket: Int) -> [UInt32] {
        guard self.buckets[bucket].live > 0 else { return [] }
        var ids: [UInt32] = []
        ids.reserveCapacity(Int(self.buckets[bucket].total))
        var walk = TimerChunks.Walk(self.buckets[bucket])
        while let id = self.chunks.next(&walk) {
            let second = self.due[Int(id)]
            if second != Self.unarmed, self.bucket(of: Int(second)) == bucket { ids.append(id) }
        }
        ids.sortAndUnique()
        return ids
    }

    /// The ids that are armed for this bucket, each once, in the order of their entries. O(entries), without sorting:
    /// while it runs, an id that has been seen counts as disarmed.
    private mutating func collectLive(of bucket: Int) -> [UInt32] {
        let live = Int(self.buckets[bucket].live)
        guard live > 0 else { return [] }
        var ids: [UInt32] = []
        var seconds: [UInt32] = []
        ids.reserveCapacity(live)
        seconds.reserveCapacity(live)
        let list = self.buckets[bucket]
        var walk = TimerChunks.Walk(list)
        while let id = self.chunks.next(&walk) {
            let second = self.due[Int(id)]
            guard second != Self.unarmed, self.bucket(of: Int(second)) == bucket else { continue }
            ids.append(id)
            seconds.append(second)
            self.due[Int(id)] = Self.unarmed
        }
        for index in ids.indices { self.due[Int(ids[index])] = seconds[index] }
        return ids
    }
}

/// Time moving on.
extension TimerCalendar {
    /// The first second up to the limit that has a timer, after entering its block. Empty time is skipped in one step.
    mutating func nextSecond(upTo limit: Int) -> Int? {
        while true {
            if let second = self.firstLiveSecond() { return second <= limit ? second : nil }
            let block: Int
            if let next = self.firstLiveBlock() {
                block = next
            } else if self.buckets[Self.beyond].live > 0 {
                block = self.firstSecond(of: Self.beyond) >> Self.blockShift
            } else {
                return nil
            }
            guard block << Self.blockShift <= limit else { return nil }
            self.enter(block)
        }
    }

    /// Moves the cursor behind a second up to which everything has been fired.
    mutating func advance(past second: Int) {
        guard second >= self.cursor else { return }
        self.cursor = second + 1
        let block = self.cursor >> Self.blockShift
        if block > self.block { self.enter(block) }
    }

    /// Makes a later block the one in progress: its timers, and those beyond that come within reach, are dealt out.
    /// Precondition: no timer but late ones is due before it, so that its place in the ring can only be its own.
    private mutating func enter(_ block: Int) {
        // Read before time moves, since that decides which entries are stale.
        let place = Self.firstBlock + (block & (Self.blocks - 1))
        let ids = self.sortedLive(of: place)
        self.empty(place)
        var distant: [UInt32] = []
        if self.buckets[Self.beyond].live > 0,
            self.firstSecond(of: Self.beyond) >> Self.blockShift - block < Self.blocks
        {
            distant = self.sortedLive(of: Self.beyond)
            self.empty(Self.beyond)
        }
        self.block = block
        self.cursor = max(self.cursor, block << Self.blockShift)
        for id in ids { self.relink(id) }
        for id in distant { self.relink(id) }
    }

    private mutating func relink(_ id: UInt32) {
        let second = Int(self.due[Int(id)])
        self.link(id, to: self.bucket(of: second), second: second)
    }
}

/// The first due second.
extension TimerCalendar {
    private func firstLiveSecond() -> Int? {
        let start = self.block << Self.blockShift
        return self.secondBits.firstBit(from: self.cursor - start).map { start + $0 }
    }

    private func firstLiveBlock() -> Int? {
        let place = self.block & (Self.blocks - 1)
        if let next = self.blockBits.firstBit(from: place) { return self.block - place + next }
        return self.blockBits.firstBit(from: 0).map { self.block - place + Self.blocks + $0 }
    }

    /// Finds the first due second of all: a look at the bits, and, where nothing is due in the block in progress, what
    /// the next bucket knows about itself.
    mutating func findFirst() {
        if self.buckets[Self.late].live > 0 {
            self.first = self.firstSecond(of: Self.late)
        } else if let second = self.firstLiveSecond() {
            self.first = second
        } else if let block = self.firstLiveBlock() {
            self.first = self.firstSecond(of: Self.firstBlock + (block & (Self.blocks - 1)))
        } else if self.buckets[Self.beyond].live > 0 {
            self.first = self.firstSecond(of: Self.beyond)
        } else {
            self.first = nil
        }
    }

    /// The first due second of a bucket of many seconds. O(entries) if the last timer of that second has gone since
    /// it was asked last, else O(1). Precondition: something in it lives.
    private mutating func firstSecond(of bucket: Int) -> Int {
        if self.buckets[bucket].firstCount == 0 {
            var first = Self.unarmed
            var ids: [UInt32] = []
            var walk = TimerChunks.Walk(self.buckets[bucket])
            while let id = self.chunks.next(&walk) {
                let second = self.due[Int(id)]
                guard second != Self.unarmed, second <= first, self.bucket(of: Int(second)) == bucket else { continue }
                if second < first { ids.removeAll(keepingCapacity: true) }
                first = second
                ids.append(id)
            }
            ids.sortAndUnique()
            self.buckets[bucket].first = first
            self.buckets[bucket].firstCount = UInt32(ids.count)
        }
        return Int(self.buckets[bucket].first)
    }
}

extension UInt64 {
    fileprivate mutating func set(_ bit: Int, _ isSet: Bool) {
        if isSet { self |= 1 << UInt64(bit) } else { self &= ~(1 << UInt64(bit)) }
    }
}

extension [UInt64] {
    /// The first set bit at or after a place.
    fileprivate func firstBit(from place: Int) -> Int? {
        var word = place >> 6
        guard word < self.count else { return nil }
        var bits = self[word] & (UInt64.max << UInt64(place & 63))
        while bits == 0 {
            word += 1
            guard word < self.count else { return nil }
            bits = self[word]
        }
        return word << 6 + bits.trailingZeroBitCount
    }
}

extension [UInt32] {
    /// Sorts, and drops all but one of equal elements.
    fileprivate mutating func sortAndUnique() {
        self.sort()
        var kept = 0
        for index in self.indices where kept == 0 || self[index] != self[kept - 1] {
            self[kept] = self[index]
            kept += 1
        }
        self.removeSubrange(kept...)
    }
}
