import WidgetModel

/// The values of one parameter over all rows of a segment: codes by row, and rows by code.
struct ValueColumn: Sendable {
    let field: MatchField
    /// The parameter's name, nil for family, host and tags.
    private let name: String?
    /// A string that equals ASCII text and is as long in UTF-8 is that text.
    private let isASCII: Bool

    private(set) var dictionary = ValueDictionary()
    private(set) var lists = PostingLists()
    /// By row; of a column of arrays all rows' elements one after the other, each row's ascending and without repeats.
    private(set) var codes = CodeColumn()
    /// Of a column of arrays: where a row's elements end in ``codes``. An absent value is the one element 0.
    private(set) var ends: [UInt32] = []
    private(set) var isArray: Bool
    private var scratch: [UInt32] = []

    init(_ field: MatchField, isArray: Bool = false, absentRows: Int = 0) {
        self.field = field
        self.isArray = isArray
        if case .parameter(let name) = field {
            self.name = name.description
            self.isASCII = name.bytes.allSatisfy { $0 < 0x80 }
        } else {
            self.name = nil
            self.isASCII = true
        }
        for _ in 0..<absentRows { self.appendAbsent() }
    }

    var rowCount: Int { self.isArray ? self.ends.count : self.codes.count }

    /// Bytes of memory held.
    var byteCount: Int {
        self.dictionary.byteCount + self.lists.byteCount + self.codes.byteCount + 4 * self.ends.capacity
    }

    /// Whether this is the column of a parameter with just this name.
    func isNamed(_ name: String) -> Bool {
        guard let own = self.name, own.utf8.count == name.utf8.count, own == name else { return false }
        return self.isASCII || own.utf8.elementsEqual(name.utf8)
    }

    /// Where the elements of a row are in ``codes``.
    func elements(of row: Int) -> Range<Int> {
        guard self.isArray else { return row..<row + 1 }
        return (row == 0 ? 0 : Int(self.ends[row - 1]))..<Int(self.ends[row])
    }

    // MARK: Growing

    mutating func appendAbsent() {
        self.codes.append(0)
        if self.isArray { self.ends.append(UInt32(self.codes.count)) }
    }

    mutating func append(_ value: ParameterValue) {
        guard case .array(let elements) = value else { return self.append(code: self.dictionary.insert(value)) }
        if !self.isArray { self.becomeArray() }
        self.scratch.removeAll(keepingCapacity: true)
        for element in elements { self.scratch.append(self.dictionary.insert(element)) }
        self.appendScratch()
    }

    mutating func append(_ string: String) {
        self.append(code: self.dictionary.insert(string))
    }

    /// Precondition: a column of arrays.
    mutating func append(_ strings: [String]) {
        self.scratch.removeAll(keepingCapacity: true)
        for string in strings { self.scratch.append(self.dictionary.insert(string)) }
        self.appendScratch()
    }

    private mutating func append(code: UInt32) {
        let row = UInt32(self.rowCount)
        self.codes.append(code)
        if self.isArray { self.ends.append(UInt32(self.codes.count)) }
        if code != 0 { self.lists.append(row, to: code) }
    }

    private mutating func appendScratch() {
        if self.scratch.count > 1 { self.scratch.sort() }
        let row = UInt32(self.rowCount)
        var last: UInt32 = 0
        for code in self.scratch where code != last {
            self.codes.append(code)
            self.lists.append(row, to: code)
            last = code
        }
        self.ends.append(UInt32(self.codes.count))
    }

    /// A schema can turn a value into an array of values; what rows there are have one element each.
    private mutating func becomeArray() {
        self.ends = (0..<self.codes.count).map { UInt32($0 + 1) }
        self.isArray = true
    }

    // MARK: Compacting

    /// The column of the rows that `rows` lists, ascending.
    func compacted(_ rows: [UInt32]) -> ValueColumn {
        var lengths = [UInt32](repeating: 0, count: self.dictionary.count + 1)
        for row in rows {
            for index in self.elements(of: Int(row)) { lengths[Int(self.codes[index])] += 1 }
        }
        let (dictionary, renamed) = self.dictionary.compacted(lengths)
        var newLengths = [UInt32](repeating: 0, count: dictionary.count + 1)
        for code in lengths.indices where renamed[code] != 0 { newLengths[Int(renamed[code])] = lengths[code] }
        var smaller = ValueColumn(self.field, isArray: self.isArray)
        smaller.dictionary = dictionary
        smaller.lists = PostingLists(lengths: newLengths)
        for (newRow, row) in rows.enumerated() {
            for index in self.elements(of: Int(row)) {
                // New codes ascend with the old ones, so a row's elements stay ascending.
                let code = Int(renamed[Int(self.codes[index])])
                smaller.codes.append(UInt32(code))
                if code != 0 { smaller.lists.fill(UInt32(newRow), (code, Int(newLengths[code]))) }
            }
            if self.isArray { smaller.ends.append(UInt32(smaller.codes.count)) }
        }
        return smaller
    }

    // MARK: Invariants

    /// What is wrong with the column; empty if nothing.
    func checkInvariants(rows: Int) -> [String] {
        var faults = self.dictionary.checkInvariants() + self.lists.checkInvariants(rows: rows)
        if self.rowCount != rows { faults.append("there are \(self.rowCount) rows of \(rows)") }
        if self.isArray, Int(self.ends.last ?? 0) != self.codes.count { faults.append("elements belong to no row") }
        var counts = [Int](repeating: 0, count: self.dictionary.count + 1)
        for row in 0..<min(rows, self.rowCount) {
            let codes = self.elements(of: row).map { self.codes[$0] }
            if !zip(codes, codes.dropFirst()).allSatisfy({ $0 < $1 && $0 != 0 }) {
                faults.append("the elements of row \(row) are not ascending")
            }
            for code in codes {
                guard code < counts.count else {
                    faults.append("row \(row) has an unknown code")
                    continue
                }
                counts[Int(code)] += 1
            }
        }
        for code in 1..<counts.count where counts[code] != self.lists.count(of: UInt32(code)) {
            faults.append("code \(code) is in \(counts[code]) rows and lists \(self.lists.count(of: UInt32(code)))")
        }
        return faults.map { "\(self.field): \($0)" }
    }
}
