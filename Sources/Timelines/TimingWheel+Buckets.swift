import Storage

extension TimingWheel {
    /// The group in progress.
    var group: Int { self.block >> (Self.groupShift - Self.blockShift) }

    /// The place of the group that a block belongs to.
    private static func place(ofBlock block: Int) -> Int { block >> (groupShift - blockShift) & (groups - 1) }

    /// The bucket that a timer due at a second is in, as time stands; negative if there is none yet.
    @inline(__always)
    func bucket(of second: Int) -> Int {
        if second < self.cursor { return Self.late }
        let block = second >> Self.blockShift
        if block == self.block { return second & (Self.blockSeconds - 1) }
        guard second >> Self.groupShift - self.group < Self.groups else { return Self.beyond }
        return self.bucket(ofBlock: block)
    }

    @inline(__always)
    private func bucket(ofBlock block: Int) -> Int {
        Int(self.places[Self.place(ofBlock: block)]) + block & (Self.blockSeconds - 1)
    }

    /// The bucket that a timer due at a second is in, made if there is none yet.
    @inline(__always)
    mutating func makeBucket(of second: Int) -> Int {
        let bucket = self.bucket(of: second)
        return bucket >= 0 ? bucket : self.makeGroup(of: second)
    }

    @inline(never)
    private mutating func makeGroup(of second: Int) -> Int {
        let block = second >> Self.blockShift
        self.places[Self.place(ofBlock: block)] = Int32(self.buckets.count)
        self.buckets.append(contentsOf: repeatElement(TimerBucket(), count: Self.blockSeconds))
        return self.bucket(ofBlock: block)
    }

    /// Notes whether the bucket of a second has a live timer. O(1).
    @inline(__always)
    private mutating func setBit(ofSecond second: Int, bucket: Int, _ isSet: Bool) {
        if bucket < Self.late {
            self.secondBits.set(bucket, isSet)
        } else if bucket >= Self.firstBlock {
            let block = second >> Self.blockShift
            let place = Self.place(ofBlock: block)
            self.blockBits[place].set(block & (Self.blockSeconds - 1), isSet)
            self.groupBits[place >> 6].set(place & 63, self.blockBits[place] != 0)
        }
    }

    /// Adds the entry of an id that is due at a second.
    @inline(__always)
    mutating func link(_ id: UInt32, to bucket: Int, second: Int) {
        self.chunks.append(id, to: &self.buckets[bucket])
        self.buckets[bucket].live += 1
        self.buckets[bucket].noteArmed(UInt32(second))
        if self.buckets[bucket].live == 1 { self.setBit(ofSecond: second, bucket: bucket, true) }
    }

    /// Leaves the entry of an id behind, which has been disarmed or is due elsewhere now.
    @inline(__always)
    mutating func unlink(from bucket: Int, second: Int) {
        self.buckets[bucket].live -= 1
        self.buckets[bucket].noteGone(UInt32(second))
        let live = self.buckets[bucket].live
        if live == 0 || Int(self.buckets[bucket].total) > 2 * Int(live) + TimerChunks.entries {
            self.tidy(bucket, second: second)
        }
    }

    /// Throws a bucket away if nothing in it lives, and compacts it if more than half of it is stale.
    ///
    /// - Parameter second: One of the bucket's.
    @inline(never)
    mutating func tidy(_ bucket: Int, second: Int) {
        let live = Int(self.buckets[bucket].live)
        if live == 0 {
            self.empty(bucket, second: second)
        } else if Int(self.buckets[bucket].total) > 2 * live + TimerChunks.entries {
            self.takeLive(of: bucket)
            self.chunks.release(&self.buckets[bucket])
            for index in self.scratch.indices {
                self.due[Int(self.scratch[index])] = self.scratchSeconds[index]
                self.chunks.append(self.scratch[index], to: &self.buckets[bucket])
            }
        }
    }

    mutating func empty(_ bucket: Int, second: Int) {
        self.chunks.release(&self.buckets[bucket])
        self.buckets[bucket].live = 0
        self.buckets[bucket].firstCount = 0
        self.setBit(ofSecond: second, bucket: bucket, false)
    }

    /// Writes the ids that are armed for this bucket, each once, and their seconds to the scratch arrays, in the order of
    /// their entries. O(entries), without sorting: an id that has been seen counts as disarmed until it is linked anew.
    private mutating func takeLive(of bucket: Int) {
        self.scratch.removeAll(keepingCapacity: true)
        self.scratchSeconds.removeAll(keepingCapacity: true)
        self.takeMoreLive(of: bucket)
    }

    private mutating func takeMoreLive(of bucket: Int) {
        var ahead = TimerChunks.Walk(self.buckets[bucket])
        while let id = self.chunks.next(&ahead) { self.due.prefetch(Int(id)) }
        var walk = TimerChunks.Walk(self.buckets[bucket])
        while let id = self.chunks.next(&walk) {
            let second = self.due[Int(id)]
            guard second != Self.unarmed, self.bucket(of: Int(second)) == bucket else { continue }
            self.scratch.append(id)
            self.scratchSeconds.append(second)
            self.due[Int(id)] = Self.unarmed
        }
    }
}

extension TimingWheel {
    /// Fetches the memory that arming or disarming an id will need. The due seconds of ids lie all over a large table: call this for
    /// several ids, then arm them, and they are waited for together. O(1).
    package func prefetch(_ id: UInt32) { self.due.prefetch(Int(id)) }
}

/// Time moving on.
extension TimingWheel {
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
        let group = block >> (Self.groupShift - Self.blockShift)
        self.scratch.removeAll(keepingCapacity: true)
        self.scratchSeconds.removeAll(keepingCapacity: true)
        if group - self.group < Self.groups {
            let bucket = self.bucket(ofBlock: block)
            if bucket >= 0, self.buckets[bucket].live > 0 {
                self.takeMoreLive(of: bucket)
                self.empty(bucket, second: block << Self.blockShift)
            }
        }
        if group > self.group, self.buckets[Self.beyond].live > 0,
            self.firstSecond(of: Self.beyond) >> Self.groupShift - group < Self.groups
        {
            self.takeMoreLive(of: Self.beyond)
            self.empty(Self.beyond, second: 0)
        }
        self.block = block
        self.cursor = max(self.cursor, block << Self.blockShift)
        for index in self.scratch.indices {
            let second = self.scratchSeconds[index]
            self.due[Int(self.scratch[index])] = second
            self.link(self.scratch[index], to: self.makeBucket(of: Int(second)), second: Int(second))
        }
    }
}

/// The first due second.
extension TimingWheel {
    private func firstLiveSecond() -> Int? {
        let rest = self.secondBits & (UInt64.max << UInt64(self.cursor & (Self.blockSeconds - 1)))
        return rest == 0 ? nil : self.block << Self.blockShift + rest.trailingZeroBitCount
    }

    /// The first block with a live timer after the one in progress. Its group's place says which of all it is.
    private func firstLiveBlock() -> Int? {
        let here = self.group & (Self.groups - 1)
        let first: Int
        if let later = self.groupBits.firstBit(from: here) {
            first = later
        } else if let wrapped = self.groupBits.firstBit(from: 0) {
            first = wrapped
        } else {
            return nil
        }
        let group = self.group + (first - here) & (Self.groups - 1)
        return group << (Self.groupShift - Self.blockShift) + self.blockBits[first].trailingZeroBitCount
    }

    /// Finds the first due second of all: a look at the bits, and, where nothing is due in the block in progress, what
    /// the next bucket knows about itself.
    mutating func findFirst() {
        if self.buckets[Self.late].live > 0 {
            self.first = self.firstSecond(of: Self.late)
        } else if let second = self.firstLiveSecond() {
            self.first = second
        } else if let block = self.firstLiveBlock() {
            self.first = self.firstSecond(of: self.bucket(ofBlock: block))
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
