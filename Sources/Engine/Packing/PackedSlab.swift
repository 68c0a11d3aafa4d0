/// A row that can be packed.
protocol PackedRow: Sendable {
    /// The row, which a writer was given and a reader has read; `self` is any row then. Nothing of it may be lost.
    ///
    /// - Parameters:
    ///   - coder: The coder.
    ///   - slot: The row's number.
    func packed(by coder: inout some FieldCoder, at slot: UInt32) -> Self
    /// Any row.
    static var blank: Self { get }
}

/// A ``Slab`` that keeps rows packed while nobody uses them: most rows of a large table are of widgets to which nothing
/// happens for hours.
///
/// A row that is changed is unpacked first, and stays so until many others have been since. Packed or not, a row has the same
/// value for whoever asks. To read one field of a packed row unpacks all of it: who reads several calls ``wake(_:)`` first.
struct PackedSlab<Row: PackedRow>: RowTable, Sendable {
    static var none: UInt32 { Slab<Row>.none }
    /// Marks a place as that of a row that is not packed.
    private static var awake: UInt32 { PackedCells.end }
    /// So many rows ahead it is fetched where they are packed to.
    private static var packedAhead: Int { 8 }

    /// Where each row is: the number of its cell, or with ``awake`` its place among those that are not packed.
    private var places = RowChunks<UInt32>()
    private(set) var free: [UInt32] = []
    private var cells = PackedCells()
    /// The rows that are not packed and their numbers. Once there are ``awakeMax``, each new one takes the oldest one's place.
    private var rows = RowChunks<Row>()
    private var slots: [UInt32] = []
    private var oldest = 0
    private let awakeMax: Int
    /// The row that was woken last, which is the one that `rows` is focused on: it is asked for again and again.
    private var latest = Self.none

    /// No rows.
    ///
    /// - Parameter awakeMax: How many rows may be unpacked at a time.
    init(awakeMax: Int = Engine.unpackedMax) {
        self.awakeMax = awakeMax
    }

    /// Room for rows that are read back, see ``restore(_:_:)``.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - rows: About how many rows will come.
    init(free: [UInt32], expecting rows: Int = 0) {
        self.init()
        self.free = free
        self.places.expect(rows)
    }

    /// All numbers are below this; some of them may be free.
    var end: Int { self.places.count }

    @inline(__always)
    subscript(slot: UInt32) -> Row {
        _read {
            let lease =
                _fastPath(slot == self.latest)
                ? self.rows.focused : Self.lease(slot, self.places, self.rows, self.cells)
            yield lease.row
            lease.end()
        }
        _modify {
            self.wake(slot)
            yield &self.rows[focused: ()]
        }
    }

    /// Lends a row that is not the one that was woken last.
    ///
    /// Out of line, and given what it needs of self: for the whole of it the compiler copies self before it knows whether it
    /// will call this (Swift 6.3).
    @inline(never)
    private static func lease(
        _ slot: UInt32,
        _ places: RowChunks<UInt32>,
        _ rows: RowChunks<Row>,
        _ cells: PackedCells
    ) -> RowLease<Row> {
        let place = places[Int(slot)]
        if place >= Self.awake { return rows.lease(Int(place & ~Self.awake)) }
        return RowLease(of: Self.unpacked(slot, place, cells))
    }

    /// Unpacks a row that is about to be used, if it is packed.
    @inline(__always)
    mutating func wake(_ slot: UInt32) {
        if !_fastPath(slot == self.latest) { self.wakeAnother(slot) }
    }

    @inline(never)
    private mutating func wakeAnother(_ slot: UInt32) {
        let place = self.places[Int(slot)]
        if place >= Self.awake {
            self.focus(slot, Int(place & ~Self.awake))
        } else {
            let row = Self.unpacked(slot, place, self.cells)
            self.cells.release(place)
            self.hold(row, slot)
        }
    }

    @inline(__always)
    private mutating func focus(_ slot: UInt32, _ place: Int) {
        self.latest = slot
        self.rows.focus(on: place)
    }

    @inline(__always)
    private static func unpacked(_ slot: UInt32, _ place: UInt32, _ cells: PackedCells) -> Row {
        var reader = cells.reader(of: place)
        return Row.blank.packed(by: &reader, at: slot)
    }

    /// Fetches where a row is.
    @inline(__always)
    func approach(_ slot: UInt32) { self.places.prefetch(Int(slot)) }

    /// Fetches a row that is about to be used; see ``approach(_:)``, which is best called some time before.
    @inline(__always)
    func prefetch(_ slot: UInt32) {
        let place = self.places[Int(slot)]
        if place >= Self.awake { self.rows.prefetch(Int(place & ~Self.awake)) } else { self.cells.prefetch(place) }
    }

    /// Keeps a row unpacked: in the place of the one that has been longest, if there are enough.
    private mutating func hold(_ row: consuming Row, _ slot: UInt32) {
        var place = self.slots.count
        if place >= self.awakeMax {
            if self.pack(self.oldest) { place = self.oldest }
            self.oldest = (self.oldest + 1) % self.slots.count
        }
        if place == self.slots.count {
            self.slots.append(slot)
            self.rows.append(row)
        } else {
            self.slots[place] = slot
            self.rows[place] = row
        }
        self.places[Int(slot)] = Self.awake | UInt32(place)
        self.focus(slot, place)
        // Its place in the table is soon written to.
        self.places.prefetch(Int(self.slots[(self.oldest + Self.packedAhead) % self.slots.count]))
    }

    /// Packs the row at a place among the unpacked, if that can be.
    private mutating func pack(_ place: Int) -> Bool {
        let slot = self.slots[place]
        guard let number = self.keep(self.rows[place], slot) else { return false }
        self.places[Int(slot)] = number
        return true
    }

    private mutating func keep(_ row: borrowing Row, _ slot: UInt32) -> UInt32? {
        var writer = FieldWriter()
        _ = row.packed(by: &writer, at: slot)
        return self.cells.insert(&writer)
    }

    private mutating func keepAnyhow(_ row: Row, _ slot: UInt32) {
        if let number = self.keep(row, slot) { self.places[Int(slot)] = number } else { self.hold(row, slot) }
    }

    mutating func insert(_ row: consuming Row) -> UInt32 {
        guard let slot = self.free.popLast() else {
            let slot = UInt32(self.end)
            self.places.append(0)
            self.hold(row, slot)
            return slot
        }
        let place = self.places[Int(slot)]
        if place < Self.awake {
            self.cells.release(place)
            self.hold(row, slot)
        } else {
            self[slot] = row
        }
        return slot
    }

    /// Gives a number back. The row keeps its last value until the number is used again.
    mutating func release(_ slot: UInt32) { self.free.append(slot) }

    /// Takes back a row under its number. Rows come in the order of their numbers; what is left out is blank.
    /// Precondition: no number as high was taken back before.
    @inline(__always)
    mutating func restore(_ slot: UInt32, _ row: consuming Row) {
        precondition(slot >= self.end, "rows are read back in their order")
        self.finishRestoring(end: Int(slot))
        self.places.append(0)
        self.keepAnyhow(row, slot)
    }

    /// Makes the table as long as it was, once its last row was taken back. Does nothing if it is.
    ///
    /// - Parameter end: How many numbers were ever given out.
    mutating func finishRestoring(end: Int) {
        while self.end < end {
            let slot = UInt32(self.end)
            self.places.append(0)
            self.keepAnyhow(.blank, slot)
        }
    }
}
