import BasicContainers
import Storage

/// Instances of one kind that share their configured values.
///
/// Instances with the same values, but for the host, are a class. Each class is one row of a table with a column for each
/// field; each instance is a row with two columns alone, its class and its host. A query is answered once for each
/// class. The classes that it finds are values of one column, so lists, filters and bits work as in any other table.
struct InstanceClasses: ~Copyable {
    static let classColumn = 0
    /// The same as the field's, so that a test on values is on the same column.
    static let hostColumn = KindSegment.hostField
    /// In a key, marks how many codes of one field follow.
    private static let severalFlag: UInt32 = 1 << 31

    /// The number of each class by the codes of its fields, and how many instances it has.
    private var keys = KeyTable<UInt32>()
    /// By class: its codes. The host's column is empty, and so are the rows of numbers that no class has.
    var table = RowTable()
    /// By class: its number, for walks over ``table``.
    private(set) var numbers = InstanceColumn()
    /// By row: the class's number plus one, and the host's code.
    private(set) var members = RowTable()
    private(set) var instances = InstanceColumn()
    private var key: [UInt32] = []

    init() {
        self.members.addColumn()
        self.members.addColumn()
    }

    func duplicate() -> InstanceClasses {
        var copy = InstanceClasses()
        copy.keys = self.keys.duplicate()
        copy.table = self.table.duplicate()
        copy.numbers = self.numbers.duplicate()
        copy.members = self.members.duplicate()
        copy.instances = self.instances.duplicate()
        return copy
    }

    /// Classes that have instances.
    var count: Int { self.keys.count }

    /// One more than the highest number of a class.
    var bound: Int { self.table.rowCount }

    /// Instances.
    var rowCount: Int { self.members.rowCount }

    var byteCount: Int {
        self.keys.byteCount + self.table.byteCount + self.numbers.byteCount + self.members.byteCount
            + self.instances.byteCount
    }

    mutating func addField() { self.table.addColumn() }

    /// Gives every class an array of no elements in a field that has just been added.
    mutating func makeEmpty(_ field: Int) { self.table.makeEmpty(field) }

    // MARK: Rows

    @inline(__always)
    func classNumber(_ row: Int) -> Int { Int(self.members.singleCode(Self.classColumn, row)) - 1 }

    /// Fetches the classes and hosts of those rows that are one of a class.
    func prefetch(_ rows: Span<UInt32>) {
        var members: [UInt32] = []
        for index in rows.indices where rows[index] & KindSegment.sharedFlag != 0 {
            members.append(rows[index] & ~KindSegment.sharedFlag)
        }
        self.members.prefetch(members.span)
    }

    func host(_ row: Int) -> UInt32 { self.members.singleCode(Self.hostColumn, row) }

    mutating func append(_ instance: UInt32, _ number: Int, host: UInt32) -> Int {
        self.members.append(UInt32(number + 1), host)
        self.instances.append(instance)
        return self.members.rowCount - 1
    }

    /// Gives a row another class; the lists of rows may wait for ``finishChanges()`` if `waits`.
    mutating func set(_ row: Int, _ number: Int, waits: Bool) {
        let code = UInt32(number + 1)
        if waits, self.members.columns[Self.classColumn].change(row, to: code) != nil { return }
        self.members.columns[Self.classColumn].set(row, FieldCodes(single: code))
    }

    mutating func finishChanges() { self.members.finishChanges() }

    mutating func set(_ row: Int, host: UInt32) {
        self.members.columns[Self.hostColumn].set(row, FieldCodes(single: host))
    }

    /// Removes a row; the last one takes its place.
    mutating func remove(_ row: Int) {
        self.members.remove(row)
        let last = self.instances[self.instances.count - 1]
        if row < self.members.rowCount { self.instances.set(row, last) }
        self.instances.removeLast()
    }

    // MARK: Classes

    /// The number of the class with some values, and one use of it.
    ///
    /// - Parameters:
    ///   - values: By field.
    ///   - host: The field that does not count.
    ///   - tags: The field in which most values are the empty array.
    mutating func use(_ values: [FieldCodes], host: Int, tags: Int?) -> (number: Int, isNew: Bool) {
        self.key.removeAll(keepingCapacity: true)
        for index in values.indices {
            if index == host || (index == tags && values[index].elements.isEmpty && values[index].isArray) {
                self.key.append(0)
            } else if values[index].isArray {
                self.key.append(Self.severalFlag | UInt32(values[index].elements.count))
                self.key += values[index].elements
            } else {
                self.key.append(values[index].single)
            }
        }
        // Fields that come later must not make other classes of those that lack them.
        while self.key.last == 0 { self.key.removeLast() }
        let key = self.key
        let used = self.keys.use(key.span)
        let number = Int(used.number)
        guard used.isNew else { return (number, false) }
        if number == self.table.rowCount {
            self.numbers.append(UInt32(number))
            self.table.append(values, without: host)
        } else {
            for index in values.indices where index != host && !self.table.holds(index, values[index], number) {
                self.table.columns[index].set(number, values[index])
            }
        }
        return (number, true)
    }

    /// Whether there is an instance of a class.
    func hasInstances(_ number: UInt32) -> Bool { self.keys.uses(of: number) > 0 }

    /// One more use of a class.
    mutating func retain(_ number: Int) { self.keys.retain(UInt32(number)) }

    /// Takes back one use of a class; returns whether it was the last. The class's row is to be emptied then.
    mutating func release(_ number: Int) -> Bool { self.keys.release(UInt32(number)) }

    /// Empties the row of a class that has no instance any more.
    mutating func vacate(_ number: Int) {
        let absent = FieldCodes()
        for index in self.table.columns.indices where !self.table.holds(index, absent, number) {
            self.table.columns[index].set(number, absent)
        }
    }

    // MARK: Loading

    mutating func startLoading() {
        self.members.deferLists()
    }

    mutating func finishLoading(highestHost: Int) {
        self.members.buildLists(Self.classColumn, highestCode: self.bound)
        self.members.buildLists(Self.hostColumn, highestCode: highestHost)
    }

    // MARK: Invariants

    /// The faults of the classes; empty if there are none.
    func checkInvariants(highestHost: Int) -> [String] {
        var faults = self.instances.checkInvariants() + self.numbers.checkInvariants()
        let rows = self.members.rowCount
        faults += self.members.columns[Self.classColumn].checkInvariants(rows: rows, codes: self.bound)
        faults += self.members.columns[Self.hostColumn].checkInvariants(rows: rows, codes: highestHost)
        var uses = [UInt32](repeating: 0, count: self.bound)
        for row in 0..<rows { uses[self.classNumber(row)] += 1 }
        for number in 0..<self.bound where Int(uses[number]) != self.keys.uses(of: UInt32(number)) {
            faults.append("class \(number) has \(uses[number]) instances, not \(self.keys.uses(of: UInt32(number)))")
        }
        return faults
    }
}
