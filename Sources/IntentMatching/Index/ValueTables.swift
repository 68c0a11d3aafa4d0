import BasicContainers

/// A condition that each value of a field is judged by, once however many rows have it: some values at a time.
struct ValueTable: Sendable {
    /// More codes than this are not looked up list by list.
    private static let driverCodesMax = 1024
    /// The steps of going to a value.
    private static let lookSteps = 8

    let field: Int
    /// The tests of each value; literals are in ``listed`` and ``excluded``.
    let atoms: [MatchAtom]
    /// The steps of looking at a short value.
    let steps: Int
    /// The codes that pass whatever their values are, ascending.
    private let listed: [UInt32]
    /// All other codes but these and 0 pass, ascending; nil if they do not.
    private let excluded: [UInt32]?

    /// By code up to ``next``: 1 if it passes. With the codes that pass, one more than are driven by at most.
    private var table: [UInt8] = []
    private var passing: [UInt32] = []
    /// The resulting test, once all values were judged.
    private(set) var form: CodeTest.Form?

    init(field: Int, atoms: [MatchAtom], listed: [UInt32], excluded: [UInt32]?) {
        self.field = field
        self.atoms = atoms
        self.steps = Self.lookSteps + atoms.steps
        self.listed = listed
        self.excluded = excluded
    }

    /// The code that is judged next.
    var next: Int { self.table.count }

    /// Judges some more values.
    ///
    /// - Parameters:
    ///   - codes: How many, at least 1.
    ///   - highestCode: The highest code of all.
    ///   - mark: Sets the entries to 1 of those of the codes whose values satisfy an atom, as far as it comes; returns the
    ///     first code that it left out.
    mutating func judge(
        _ codes: Int,
        highestCode: Int,
        _ mark: (_ codes: Range<Int>, _ table: inout [UInt8]) -> Int
    ) {
        let start = self.next
        if start == 0 { self.table.reserveCapacity(CodeTest.tableSize(highestCode)) }
        let codes = start..<min(start + codes, highestCode + 1)
        self.table.append(contentsOf: repeatElement(self.excluded == nil ? 0 : 1, count: codes.count))
        if start == 0 { self.table[0] = 0 }
        if let excluded = self.excluded { self.set(excluded, in: codes, to: 0) }
        let end = mark(codes, &self.table)
        self.table.removeLast(codes.upperBound - end)
        self.set(self.listed, in: start..<end, to: 1)
        for code in start..<end where self.table[code] != 0 && self.passing.count <= Self.driverCodesMax {
            self.passing.append(UInt32(code))
        }
        if end > highestCode { self.finish(highestCode) }
    }

    private mutating func set(_ ascending: [UInt32], in codes: Range<Int>, to entry: UInt8) {
        var place = ascending.span.lowerBound(of: UInt32(codes.lowerBound))
        while place < ascending.count, ascending[place] < codes.upperBound {
            self.table[Int(ascending[place])] = entry
            place += 1
        }
    }

    private mutating func finish(_ highestCode: Int) {
        let size = CodeTest.tableSize(highestCode)
        self.table.append(contentsOf: repeatElement(0, count: size - self.table.count))
        let isDriver = self.passing.first != 0 && self.passing.count <= Self.driverCodesMax
        self.form = .table(self.table, passing: isDriver ? self.passing : nil)
        (self.table, self.passing) = ([], [])
    }
}

/// The conditions of a question that values are judged by, by the numbers that their tests have.
///
/// A plan asks for those that it needs; while one of them is not finished, it cannot be made.
struct ValueTables: Sendable {
    private var tables: [ValueTable] = []
    /// Those that a plan has asked for in vain, the next one last.
    private var wanted: [Int] = []
    /// The work that may still be done until others get their turn, in steps of a pattern on a value, about.
    var work: Int
    /// How many values were judged since that was asked last.
    private var judged = 0

    init(work: Int) { self.work = work }

    /// Takes a condition in and returns its number.
    mutating func add(_ table: consuming ValueTable) -> Int {
        self.tables.append(table)
        return self.tables.count - 1
    }

    /// The test that a condition comes to for all codes; nil if its values have to be judged first, which is noted.
    mutating func form(of number: Int) -> CodeTest.Form? {
        if let form = self.tables[number].form { return form }
        self.wanted.append(number)
        return nil
    }

    /// How many values were judged since this was asked last.
    mutating func takeJudged() -> Int {
        defer { self.judged = 0 }
        return self.judged
    }

    /// Whether values have to be judged before there can be a plan.
    var isWanting: Bool { !self.wanted.isEmpty }

    /// The condition that is judged next, of those that a plan has asked for.
    var nextWanted: Int? { self.wanted.last }

    subscript(number: Int) -> ValueTable {
        _read { yield self.tables[number] }
    }

    /// Judges some more values; see ``ValueTable/judge(_:highestCode:_:)``.
    mutating func judge(
        _ number: Int,
        _ codes: Int,
        highestCode: Int,
        _ mark: (_ codes: Range<Int>, _ table: inout [UInt8], _ work: inout Int) -> Int
    ) {
        let start = self.tables[number].next
        var work = self.work
        var end = start
        self.tables[number].judge(codes, highestCode: highestCode) { codes, table in
            end = mark(codes, &table, &work)
            return end
        }
        self.work = work
        self.judged += end - start
        if self.tables[number].form != nil { self.wanted.removeAll { $0 == number } }
    }
}
