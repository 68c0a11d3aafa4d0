import Storage

/// A list of ids in ``TimerChunks``, some of them stale.
struct TimerBucket: Sendable {
    /// The first and the last chunk; ``TimerChunks/none`` if the bucket is empty.
    var head = TimerChunks.none
    var tail = TimerChunks.none
    /// Entries, stale ones among them. Only the last chunk may be partly filled.
    var total: UInt32 = 0
    /// Ids that are armed for a second of this bucket.
    var live: UInt32 = 0
    /// The first second that anything here is due, and how many ids are due then; meaningless while that is zero.
    var first: UInt32 = 0
    var firstCount: UInt32 = 0

    /// Something became due at a second. `live` counts it already.
    mutating func noteArmed(_ second: UInt32) {
        if self.live == 1 || (self.firstCount > 0 && second < self.first) {
            self.first = second
            self.firstCount = 1
        } else if self.firstCount > 0, second == self.first {
            self.firstCount += 1
        }
    }

    /// Something is no longer due at a second.
    mutating func noteGone(_ second: UInt32) {
        if self.firstCount > 0, second == self.first { self.firstCount -= 1 }
    }
}

/// The memory of all buckets: one column cut into chunks of 256 bytes, the unused ones in a list.
///
/// The first word of a chunk is the number of the next one, the others are ids.
struct TimerChunks: ~Copyable, Sendable {
    static let none = UInt32.max
    static let words = 64
    static let entries = words - 1

    private var storage = Column<UInt32>()
    private var free = Self.none
    /// How many chunks are in buckets.
    private(set) var used = 0

    /// Appends an id to a bucket's list. O(1).
    mutating func append(_ id: UInt32, to bucket: inout TimerBucket) {
        let place = Int(bucket.total) % Self.entries
        if place == 0 {
            let chunk = self.takeChunk()
            if bucket.head == Self.none {
                bucket.head = chunk
            } else {
                self.storage[Int(bucket.tail) * Self.words] = chunk
            }
            bucket.tail = chunk
        }
        self.storage[Int(bucket.tail) * Self.words + 1 + place] = id
        bucket.total += 1
    }

    private mutating func takeChunk() -> UInt32 {
        self.used += 1
        guard self.free != Self.none else {
            let chunk = UInt32(self.storage.count / Self.words)
            self.storage.append(repeating: 0, count: Self.words)
            self.storage[Int(chunk) * Self.words] = Self.none
            return chunk
        }
        let chunk = self.free
        self.free = self.storage[Int(chunk) * Self.words]
        self.storage[Int(chunk) * Self.words] = Self.none
        return chunk
    }

    /// Gives a bucket's chunks back and leaves its list empty. O(1).
    mutating func release(_ bucket: inout TimerBucket) {
        guard bucket.head != Self.none else { return }
        self.used -= (Int(bucket.total) + Self.entries - 1) / Self.entries
        self.storage[Int(bucket.tail) * Self.words] = self.free
        self.free = bucket.head
        bucket.head = Self.none
        bucket.tail = Self.none
        bucket.total = 0
    }

    /// A walk over a bucket's list, in the order of appending.
    struct Walk {
        fileprivate var chunk: UInt32
        fileprivate var place = 0
        fileprivate var rest: UInt32

        init(_ bucket: TimerBucket) {
            self.chunk = bucket.head
            self.rest = bucket.total
        }
    }

    /// The next id of a walk; nil at its end.
    @inline(__always)
    func next(_ walk: inout Walk) -> UInt32? {
        guard walk.rest > 0 else { return nil }
        if walk.place == Self.entries {
            walk.chunk = self.storage[Int(walk.chunk) * Self.words]
            walk.place = 0
        }
        walk.place += 1
        walk.rest -= 1
        return self.storage[Int(walk.chunk) * Self.words + walk.place]
    }

    var byteCount: Int { self.storage.byteCount }

    /// How many chunks there are, in buckets and unused.
    var count: Int { self.storage.count / Self.words }

    /// How many chunks are unused, counted one by one.
    var freeCount: Int {
        var count = 0
        var chunk = self.free
        while chunk != Self.none, count <= self.count {
            count += 1
            chunk = self.storage[Int(chunk) * Self.words]
        }
        return count
    }
}
