import WidgetModel

/// The configurations of instances, each packed into a chain of cells of sixteen bytes: as an array of values, one of three
/// parameters takes 160 bytes, and here some fifty.
///
/// Changing one touches the memory of that one alone, and where it does not grow, no other.
struct ConfigurationTable: Sendable {
    /// The number of what has no parameter.
    static let empty = Slab<Cell>.none

    /// Twelve bytes of a configuration's packed form, 0 behind its end, and the cell that goes on with it.
    struct Cell: Sendable {
        var bytes = InlineArray<12, UInt8>(repeating: 0)
        var next = ConfigurationTable.empty
    }

    private static let cellBytes = 12

    private var cells = Slab<Cell>()
    /// The names of parameters, of which there are few, and the number of each.
    private var names: [String] = []
    private var numbers: [String: Int] = [:]
    /// The numbers of the names of the configuration that was packed last: most are followed by one of the same kind.
    private var latest: [Int] = []
    private var writer = ByteWriter()

    /// Cells in use.
    var count: Int { self.cells.count }

    // MARK: Asking

    /// The configuration of a number. O(size).
    subscript(number: UInt32) -> Configuration {
        var bytes: [UInt8] = []
        var cell = number
        while cell != Self.empty {
            let part = self.cells[cell]
            bytes.append(copying: part.bytes.span)
            cell = part.next
        }
        guard !bytes.isEmpty else { return .empty }
        var reader = ByteReader(bytes)
        do {
            return Configuration(
                try reader.readEach { (reader) throws(ByteFault) in
                    let name = self.names[Int(try reader.readVarint())]
                    return Configuration.Parameter(name: name, value: try ParameterValue(from: &reader))
                }
            )
        } catch {
            preconditionFailure("a configuration that was not packed here")
        }
    }

    /// Whether a number's configuration equals another one. Mutating, though nothing is changed that one could see: what it
    /// needs of memory is used again. O(size).
    mutating func equals(_ number: UInt32, _ configuration: Configuration) -> Bool {
        self.pack(configuration)
        var (cell, offset) = (number, 0)
        while cell != Self.empty, offset < self.writer.bytes.count {
            guard Self.equal(self.cells[cell].bytes, self.packed(at: offset)) else { break }
            cell = self.cells[cell].next
            offset += Self.cellBytes
        }
        if cell == Self.empty, offset >= self.writer.bytes.count { return true }
        // 0.0 equals -0.0, and is not written as it is.
        return configuration.hasFractions && self[number] == configuration
    }

    // MARK: Changing

    /// The number of a configuration that is added.
    mutating func insert(_ configuration: Configuration) -> UInt32 {
        var number = Self.empty
        self.replace(&number, with: configuration)
        return number
    }

    /// Lets a number's configuration be another one, by another number if it was, or is, empty.
    mutating func replace(_ number: inout UInt32, with configuration: Configuration) {
        self.pack(configuration)
        guard !self.writer.bytes.isEmpty else {
            self.release(number)
            return number = Self.empty
        }
        if number == Self.empty { number = self.cells.insert(Cell()) }
        var (cell, offset) = (number, 0)
        while true {
            self.cells[cell].bytes = self.packed(at: offset)
            offset += Self.cellBytes
            guard offset < self.writer.bytes.count else { break }
            if self.cells[cell].next == Self.empty { self.cells[cell].next = self.cells.insert(Cell()) }
            cell = self.cells[cell].next
        }
        self.release(self.cells[cell].next)
        self.cells[cell].next = Self.empty
    }

    /// Takes a configuration back.
    mutating func release(_ number: UInt32) {
        var cell = number
        while cell != Self.empty {
            let next = self.cells[cell].next
            self.cells.release(cell)
            cell = next
        }
    }

    // MARK: Packing

    /// Leaves the packed form of a configuration in the writer, nothing for one without parameters: how many parameters, and
    /// the number of the name and the value of each.
    private mutating func pack(_ configuration: Configuration) {
        self.writer.bytes.removeAll(keepingCapacity: true)
        let parameters = configuration.parameters
        guard !parameters.isEmpty else { return }
        self.writer.write(count: parameters.count)
        for index in parameters.indices {
            self.writer.write(varint: UInt64(self.number(ofName: parameters[index].name, at: index)))
            parameters[index].value.encode(into: &self.writer)
        }
    }

    /// The bytes of the packed form that a cell from an offset on has.
    @inline(__always)
    private func packed(at offset: Int) -> InlineArray<12, UInt8> {
        let bytes = self.writer.bytes
        return InlineArray { index in offset + index < bytes.count ? bytes[offset + index] : 0 }
    }

    private static func equal(_ left: InlineArray<12, UInt8>, _ right: InlineArray<12, UInt8>) -> Bool {
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    @inline(__always)
    private mutating func number(ofName name: String, at index: Int) -> Int {
        if index < self.latest.count, self.names[self.latest[index]] == name { return self.latest[index] }
        return self.find(name, at: index)
    }

    @inline(never)
    private mutating func find(_ name: String, at index: Int) -> Int {
        let number = self.numbers[name] ?? self.names.count
        if number == self.names.count {
            self.names.append(name)
            self.numbers[name] = number
        }
        if index < self.latest.count { self.latest[index] = number } else { self.latest.append(number) }
        return number
    }
}

extension Configuration {
    /// Whether there may be a number that is no integer.
    fileprivate var hasFractions: Bool {
        self.parameters.contains { parameter in
            switch parameter.value {
            case .double, .array: true
            case .string, .int, .bool, .date: false
            }
        }
    }
}
