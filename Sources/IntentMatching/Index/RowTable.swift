import BasicContainers
import Storage

/// Rows of codes in columns, with no gaps: a row that goes is replaced by the last one.
struct RowTable: ~Copyable {
    /// By field; a field that came late has a column of rows without a value.
    var columns = UniqueArray<RowColumn>()
    private(set) var rowCount = 0
    private var areListsDeferred = false

    // Bytes of memory held.
    var columnByteCount: Int { self.columns.indices.reduce(0) { $0 + self.columns[$1].byteCount } }
    var listByteCount: Int { self.columns.indices.reduce(0) { $0 + self.columns[$1].lists.byteCount } }

    /// How many blocks of 65,536 rows there are.
    var blockCount: Int { (self.rowCount + 0xFFFF) >> 16 }

    mutating func addColumn() {
        self.columns.append(RowColumn(absentRows: self.rowCount))
        if self.areListsDeferred { self.columns[self.columns.count - 1].deferLists() }
    }

    /// The code of a row that has one in a column, 0 for any other.
    @inline(__always)
    func singleCode(_ column: Int, _ row: Int) -> UInt32 { self.columns[column].singleCode(row) }

    /// Fetches the codes of some rows. Rows beyond the last one are left out.
    func prefetch(_ rows: Span<UInt32>) {
        for index in self.columns.indices { self.columns[index].prefetch(rows) }
    }

    /// Gives every row an array of no elements in a column that has just been added.
    mutating func makeEmpty(_ column: Int) {
        self.columns[column] = RowColumn(emptyRows: self.rowCount)
        if self.areListsDeferred { self.columns[column].deferLists() }
    }

    /// Keeps no lists from now on. Precondition: there is no row.
    mutating func deferLists() {
        for index in self.columns.indices { self.columns[index].deferLists() }
        self.areListsDeferred = true
    }

    /// Appends a row. Precondition: a value for each column.
    mutating func append(_ values: [FieldCodes]) {
        for index in self.columns.indices {
            // Most are one code.
            let code = values[index].single
            if code != 0 { self.columns[index].append(code) } else { self.columns[index].append(values[index]) }
        }
        self.rowCount += 1
    }

    /// The table has so many rows more, since each column has.
    mutating func finishBatch(_ rows: Int) { self.rowCount += rows }

    /// Builds the lists of a column that were deferred.
    ///
    /// - Parameters:
    ///   - column: The column.
    ///   - highestCode: The highest code that it may have.
    mutating func buildLists(_ column: Int, highestCode: Int) {
        self.columns[column].buildLists(highestCode: highestCode)
        self.areListsDeferred = false
    }

    /// Brings the lists up to date, see ``RowColumn/change(_:to:)``.
    mutating func finishChanges() {
        for index in self.columns.indices { self.columns[index].finishChanges() }
    }

    /// Removes a row; the last one takes its number.
    mutating func remove(_ row: Int) {
        for index in self.columns.indices { self.columns[index].remove(row) }
        self.rowCount -= 1
    }
}
