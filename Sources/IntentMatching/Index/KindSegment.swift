import WidgetModel

/// The instances of one kind of one app, in columns.
///
/// Rows are only appended; an instance that goes leaves a dead row, and one that is configured anew a dead row and a new
/// one. When more than a quarter of the rows are dead the segment is written anew without them, so that the cost of each
/// change is constant on average.
struct KindSegment: Sendable {
    static let dead = UInt32.max
    /// Fewer dead rows than this are not worth the allocations.
    private static let compactionDeadMin = 16

    static let familyColumn = 0
    static let hostColumn = 1
    private static let firstParameterColumn = 2
    private static let familyNames = WidgetFamily.allCases.map(\.name)

    let app: BundleID
    let kind: WidgetKind
    var schema: KindSchema?
    /// Family, host, then parameters in the order in which they first came, and among them tags.
    private(set) var columns: [ValueColumn] = [ValueColumn(.family), ValueColumn(.host)]
    /// Where the column of tags is; nil while no instance has had one, as with most kinds.
    private(set) var tagsColumn: Int?
    /// The instance of each row, or ``dead``.
    private(set) var instances: [UInt32] = []
    private(set) var deadCount = 0

    init(app: BundleID, kind: WidgetKind) {
        self.app = app
        self.kind = kind
    }

    var rowCount: Int { self.instances.count }
    var liveCount: Int { self.instances.count - self.deadCount }

    /// Bytes of memory held.
    var byteCount: Int { self.columns.reduce(4 * self.instances.capacity) { $0 + $1.byteCount } }

    /// Appends a row and returns its number.
    mutating func append(
        _ instance: UInt32,
        family: WidgetFamily,
        host: HostID,
        tags: [String],
        configuration: Configuration
    ) -> UInt32 {
        let row = self.instances.count
        self.instances.append(instance)
        self.columns[Self.familyColumn].append(Self.familyNames[Int(family.rawValue)])
        self.columns[Self.hostColumn].append(host.rawValue)
        self.appendTags(tags, row: row)
        var expected = Self.firstParameterColumn
        for parameter in configuration.parameters {
            let index = self.column(named: parameter.name, expected: expected) ?? self.addColumn(parameter, rows: row)
            self.columns[index].append(parameter.value)
            expected = index + 1
        }
        for index in Self.firstParameterColumn..<self.columns.count where self.columns[index].rowCount == row {
            self.columns[index].appendAbsent()
        }
        return UInt32(row)
    }

    private mutating func appendTags(_ tags: [String], row: Int) {
        if self.tagsColumn == nil {
            guard !tags.isEmpty else { return }
            var column = ValueColumn(.tags, isArray: true)
            for _ in 0..<row { column.append([String]()) }
            self.tagsColumn = self.columns.count
            self.columns.append(column)
        }
        if let index = self.tagsColumn { self.columns[index].append(tags) }
    }

    mutating func kill(_ row: UInt32) {
        self.instances[Int(row)] = Self.dead
        self.deadCount += 1
    }

    /// The index of a parameter's column. Constant if it is the expected one, as with configurations of one schema.
    func column(named name: String, expected: Int = firstParameterColumn) -> Int? {
        if expected < self.columns.count, self.columns[expected].isNamed(name) { return expected }
        return (Self.firstParameterColumn..<self.columns.count).first { self.columns[$0].isNamed(name) }
    }

    private mutating func addColumn(_ parameter: Configuration.Parameter, rows: Int) -> Int {
        var isArray = false
        if case .array = parameter.value { isArray = true }
        self.columns.append(
            ValueColumn(.parameter(UTF8Text(parameter.name)), isArray: isArray, absentRows: rows)
        )
        return self.columns.count - 1
    }

    // MARK: Compacting

    var isCompactionDue: Bool {
        self.deadCount >= Self.compactionDeadMin && self.deadCount * 4 > self.instances.count
    }

    /// Rewrites the segment without its dead rows. O(rows × columns).
    mutating func compact() {
        var rows: [UInt32] = []
        rows.reserveCapacity(self.liveCount)
        for (row, instance) in self.instances.enumerated() where instance != Self.dead { rows.append(UInt32(row)) }
        for index in self.columns.indices { self.columns[index] = self.columns[index].compacted(rows) }
        self.instances = rows.map { self.instances[Int($0)] }
        self.deadCount = 0
    }

    // MARK: Invariants

    /// What is wrong with the segment; empty if nothing.
    func checkInvariants() -> [String] {
        var faults = self.columns.flatMap { $0.checkInvariants(rows: self.rowCount) }
        if self.instances.count(where: { $0 == Self.dead }) != self.deadCount { faults.append("dead rows miscounted") }
        if self.isCompactionDue { faults.append("compaction is overdue") }
        return faults.map { "\(self.app)/\(self.kind): \($0)" }
    }
}
