/// The stream slots of one session: chunks of fixed addresses with a free list through the slots themselves.
///
/// Taking and giving back are constant time without an allocation in the steady state.
@safe struct StreamSlab {
    private static let slotsPerChunk = 8
    /// Chunks that an idle session keeps: enough for 128 streams at once.
    private static let chunksKept = 16
    /// Bytes of a spare store; a larger one goes back to the allocator.
    private static let spareCapacityMax: Int32 = 4096
    /// The bytes of a store that most requests' heads take.
    private static let headBytes = 512
    /// Spare stores that a session keeps until ``freeSpares()``.
    private static let sparesMax = 128

    private var chunks: [UnsafeMutablePointer<StreamSlot>] = unsafe []
    private var firstFree: UnsafeMutablePointer<StreamSlot>?
    /// Emptied stores for the next streams. A client that sends its requests' heads first and their bodies behind needs
    /// one for every stream at once.
    private var spares: [ByteStore] = []
    private(set) var liveCount = 0

    init() {
        unsafe self.firstFree = nil
    }

    /// A fresh slot for a stream.
    mutating func allocateSlot(streamID: Int32, at second: UInt32) -> UnsafeMutablePointer<StreamSlot> {
        if unsafe self.firstFree == nil {
            self.addChunk()
        }
        // Sound: `addChunk` leaves at least one free slot, and every free slot is initialized.
        let slot = unsafe self.firstFree!
        unsafe self.firstFree = slot.pointee.nextFree
        unsafe slot.pointee = StreamSlot()
        unsafe slot.pointee.streamID = streamID
        unsafe slot.pointee.flags = .isLive
        unsafe slot.pointee.beganAt = second
        unsafe slot.pointee.progressAt = second
        if let spare = self.spares.popLast() { unsafe slot.pointee.input = spare }
        self.liveCount += 1
        self.fetchNext()
        return unsafe slot
    }

    /// Fetches the memory that the next stream will get.
    @inline(__always)
    private func fetchNext() {
        if let next = unsafe self.firstFree { unsafe Prefetch.all(next, MemoryLayout<StreamSlot>.size) }
        if let spare = self.spares.last, let base = unsafe spare.base { unsafe Prefetch.all(base, Self.headBytes) }
    }

    /// Takes a slot back when its stream has closed.
    mutating func giveBack(_ slot: UnsafeMutablePointer<StreamSlot>) {
        unsafe self.recycle(&slot.pointee.input)
        unsafe self.recycle(&slot.pointee.output)
        unsafe slot.pointee.flags = []
        unsafe slot.pointee.streamID = 0
        unsafe slot.pointee.nextFree = self.firstFree
        unsafe self.firstFree = slot
        self.liveCount -= 1
        if unsafe self.liveCount == 0 && self.chunks.count > Self.chunksKept {
            self.shrink()
        }
    }

    /// Gives the memory of spare stores back, and of streams' empty ones: for a session that has nothing to do.
    mutating func freeSpares() {
        unsafe self.forEachLive { slot in
            if unsafe slot.pointee.output.count == 0 { unsafe slot.pointee.output.deallocate() }
        }
        for index in self.spares.indices { self.spares[index].deallocate() }
        self.spares = []
    }

    /// Empties a store whose bytes were copied or sent, and keeps it for the next stream if there is room.
    mutating func recycle(_ store: inout ByteStore) {
        guard unsafe store.base != nil else { return }
        if self.spares.count < Self.sparesMax && store.capacity <= Self.spareCapacityMax {
            store.removeAll()
            self.spares.append(store)
            store = ByteStore()
        } else {
            store.deallocate()
        }
    }

    /// Calls `body` with every live slot. Slots must not be taken or given back meanwhile.
    func forEachLive(_ body: (UnsafeMutablePointer<StreamSlot>) -> Void) {
        guard self.liveCount > 0 else { return }
        for place in unsafe self.chunks.indices {
            let chunk = unsafe self.chunks[place]
            for index in 0..<Self.slotsPerChunk where unsafe chunk[index].flags.contains(.isLive) {
                unsafe body(chunk + index)
            }
        }
    }

    /// Frees all memory; the slab is not used afterwards.
    mutating func deallocate() {
        self.freeSpares()
        for place in unsafe self.chunks.indices {
            let chunk = unsafe self.chunks[place]
            for index in 0..<Self.slotsPerChunk {
                unsafe chunk[index].input.deallocate()
                unsafe chunk[index].output.deallocate()
            }
            unsafe chunk.deallocate()
        }
        unsafe self.chunks = []
    }

    private mutating func addChunk() {
        let chunk = UnsafeMutablePointer<StreamSlot>.allocate(capacity: Self.slotsPerChunk)
        unsafe chunk.initialize(repeating: StreamSlot(), count: Self.slotsPerChunk)
        unsafe self.chunks.append(chunk)
        unsafe self.link(chunk)
    }

    private mutating func link(_ chunk: UnsafeMutablePointer<StreamSlot>) {
        for index in (0..<Self.slotsPerChunk).reversed() {
            unsafe chunk[index].nextFree = self.firstFree
            unsafe self.firstFree = chunk + index
        }
    }

    /// Goes back to the chunks that an idle session keeps. Sound only while no slot is live, so that no stream loses
    /// its slot.
    private mutating func shrink() {
        for place in unsafe self.chunks.indices.dropFirst(Self.chunksKept) {
            let chunk = unsafe self.chunks[place]
            unsafe chunk.deallocate()
        }
        unsafe self.chunks.removeSubrange(Self.chunksKept...)
        unsafe self.firstFree = nil
        for place in unsafe self.chunks.indices {
            let chunk = unsafe self.chunks[place]
            unsafe self.link(chunk)
        }
    }
}
