import Storage
import WidgetModel

/// The instance of each row.
///
/// Instances that were registered one after the other lie one after the other: where all rows of a block differ from
/// their instances by the same number, a query adds that number and does not touch the column.
struct InstanceColumn: ~Copyable {
    private(set) var numbers = Column<UInt32>()
    /// By block of 65,536 rows: the difference between its first row's instance number and that row.
    private var offsets: [UInt32] = []
    /// By block: rows that have another one.
    private var others: [UInt32] = []

    /// Rows whose instance is below that of the row before.
    private var descents = 0
    /// Rows whose instance has another number than they.
    private var displaced = 0

    /// Whether every row has its instance's number.
    var isIdentity: Bool { self.displaced == 0 }

    /// Whether the instances ascend with the rows, as long as none has gone.
    var isAscending: Bool { self.descents == 0 }

    var count: Int { self.numbers.count }

    var byteCount: Int { self.numbers.byteCount + 4 * (self.offsets.capacity + self.others.capacity) }

    @inline(__always)
    subscript(row: Int) -> InstanceNumber { InstanceNumber(raw: self.numbers[row]) }

    mutating func append(_ instance: InstanceNumber) {
        let row = self.numbers.count
        let offset = instance.raw &- UInt32(row)
        if row & 0xFFFF == 0 {
            self.offsets.append(offset)
            self.others.append(0)
        } else if self.offsets[row >> 16] != offset {
            self.others[row >> 16] += 1
        }
        self.numbers.append(instance.raw)
        self.descents += self.descents(at: row)
        self.displaced += self.displaced(at: row)
    }

    /// 1 if a row's instance is below that of the row before, else 0.
    @inline(__always)
    private func descents(at row: Int) -> Int {
        row > 0 && row < self.numbers.count && self.numbers[row] < self.numbers[row - 1] ? 1 : 0
    }

    /// 1 if a row's instance has another number, else 0.
    @inline(__always)
    private func displaced(at row: Int) -> Int { Int(self.numbers[row]) == row ? 0 : 1 }

    mutating func set(_ row: Int, _ instance: InstanceNumber) {
        self.displaced -= self.displaced(at: row)
        let offset = self.offsets[row >> 16]
        if self.numbers[row] &- UInt32(row) != offset { self.others[row >> 16] -= 1 }
        if instance.raw &- UInt32(row) != offset { self.others[row >> 16] += 1 }
        self.descents -= self.descents(at: row) + self.descents(at: row + 1)
        self.numbers[row] = instance.raw
        self.displaced += self.displaced(at: row)
        self.descents += self.descents(at: row) + self.descents(at: row + 1)
    }

    mutating func removeLast() {
        let row = self.numbers.count - 1
        if self.numbers[row] &- UInt32(row) != self.offsets[row >> 16] { self.others[row >> 16] -= 1 }
        self.descents -= self.descents(at: row)
        self.displaced -= self.displaced(at: row)
        self.numbers.removeLast()
        if row & 0xFFFF == 0 {
            self.offsets.removeLast()
            self.others.removeLast()
        }
    }

    /// The number that is added to each row of a block to get its instance; nil if the rows do not agree.
    @inline(__always)
    func offset(ofBlock block: Int) -> UInt32? {
        self.others[block] == 0 ? self.offsets[block] : nil
    }

    /// Makes instances of rows, in their places.
    func translate(_ rows: inout Column<UInt32>, _ places: Range<Int>) {
        let numbers = self.numbers.span
        var rows = rows.mutableSpan
        for place in places { rows[place] = numbers[Int(rows[place])] }
    }

    /// Writes the instances of ascending rows to `target` from `place` on. Precondition: room for all.
    @inline(__always)
    func write(_ rows: Span<UInt32>, to target: inout Column<UInt32>, at place: Int) {
        guard rows.count > 0 else { return }
        var out = target.mutableSpan
        let block = Int(rows[0] >> 16)
        if Int(rows[rows.count - 1] >> 16) == block, self.others[block] == 0 {
            return Kernels.add(rows, self.offsets[block], into: &out, at: place)
        }
        let numbers = self.numbers.span
        for index in rows.indices { out[place + index] = numbers[Int(rows[index])] }
    }

    func checkInvariants() -> [String] {
        var others = [UInt32](repeating: 0, count: self.offsets.count)
        var (descents, displaced) = (0, 0)
        for row in 0..<self.count {
            if self.numbers[row] &- UInt32(row) != self.offsets[row >> 16] { others[row >> 16] += 1 }
            descents += self.descents(at: row)
            displaced += self.displaced(at: row)
        }
        return (others == self.others ? [] : ["rows that differ are miscounted"])
            + (descents == self.descents ? [] : ["descents are miscounted"])
            + (displaced == self.displaced ? [] : ["rows of another number are miscounted"])
    }
}
