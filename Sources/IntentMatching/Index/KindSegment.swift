import WidgetModel

/// The instances of one kind of one app: each in columns of its own, or, where many are configured alike, as one of a class.
///
/// Nothing is rebuilt: an instance that goes is replaced by the last row, one that is configured anew changes in its row,
/// and values that nobody has any more give their codes and memory to others.
struct KindSegment: Sendable {
    static let familyField = 0
    static let hostField = 1
    static let firstParameter = 2
    static let familyNames = WidgetFamily.allCases.map(\.name)

    let app: BundleID
    let kind: WidgetKind
    var schema: KindSchema? {
        didSet { for index in self.fields.indices { self.declared[index] = self.declares(self.fields[index].field) } }
    }
    /// Family, host, then parameters in the order in which they first came, and among them tags. No value of the host's
    /// is kept here: its codes are the caller's numbers of hosts, plus one.
    var fields: [ValueField] = []
    /// The highest code that a row ever had of a host.
    private(set) var highestHost = 0
    /// By field: whether the schema has it, if there is one.
    private(set) var declared: [Bool] = []
    /// Which field is tags; nil while no instance has had one, as with most kinds.
    private(set) var tagsField: Int?
    /// Which field is the number of the instance's condition; nil if the instances have none.
    private(set) var conditionField: Int?
    /// The rows that have columns of their own, and their instances.
    var table = RowTable()
    var instances = InstanceColumn()
    /// The rows that are one of a class.
    var classes = InstanceClasses()
    let interning: Interning
    /// Whether new rows become one of a class, and others are on their way to be.
    var isShared: Bool
    /// What is known of how often configurations repeat, and how many changes to wait until the next look, if below 0.
    var survey = ConfigurationSurvey()
    var changes = 0
    private(set) var isLoading = false
    /// The values of the instance that is being changed, by field.
    var values: [FieldCodes] = []

    /// - Parameters:
    ///   - app: The app.
    ///   - kind: The kind.
    ///   - isConditional: Whether its instances have a `when`; those of a kind that have none are in another segment, so
    ///     that each condition's instances are on a list and no others have to be looked at.
    ///   - interning: When instances become one of a class.
    init(app: BundleID, kind: WidgetKind, isConditional: Bool, interning: Interning) {
        self.app = app
        self.kind = kind
        self.interning = interning
        self.isShared = interning == .always
        self.addField(.family)
        self.addField(.host)
        // No parameter has a name that starts so.
        if isConditional { self.conditionField = self.addField(.parameter("$when")) }
    }

    var count: Int { self.table.rowCount + self.classes.rowCount }

    /// Bytes of memory held.
    var byteCount: Int {
        self.fields.reduce(self.table.byteCount + self.instances.byteCount + self.classes.byteCount) {
            $0 + $1.dictionary.byteCount
        }
    }

    // MARK: Changing

    /// Appends a row and returns its number.
    mutating func append(_ instance: UInt32, _ attributes: InstanceAttributes) -> UInt32 {
        self.encode(attributes, row: nil)
        if self.isShared, !self.isLoading || self.classes.rowCount > 0 { return self.appendShared(instance) }
        let row = self.table.rowCount
        self.table.append(self.values)
        self.instances.append(instance)
        return UInt32(row)
    }

    /// Gives a row other values; what is the same is not touched.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - attributes: What is known of its instance now.
    ///   - waits: Whether the lists may wait for ``finishChanges()``.
    mutating func update(_ row: UInt32, _ attributes: InstanceAttributes, waits: Bool) {
        self.encode(attributes, row: row)
        guard row & Self.sharedFlag == 0 else {
            return self.updateShared(Int(row & ~Self.sharedFlag), waits: waits)
        }
        let row = Int(row)
        for index in self.fields.indices {
            if self.values.span[index].isKept { continue }
            if waits, !self.values.span[index].isArray,
                let old = self.table.columns[index].change(row, to: self.values.span[index].single)
            {
                if old != 0, index != Self.hostField { self.fields[index].dictionary.release(old) }
                continue
            }
            guard !self.table.holds(index, self.values[index], row) else {
                if index != Self.hostField { self.fields[index].release(self.values[index]) }
                continue
            }
            self.release(index, row)
            self.table.columns[index].set(row, self.values[index])
        }
    }

    mutating func finishChanges() {
        self.table.finishChanges()
        self.classes.finishChanges()
    }

    /// Removes a row and returns the instance that has its number now, if there is one.
    mutating func remove(_ row: UInt32) -> UInt32? {
        guard row & Self.sharedFlag == 0 else {
            let row = Int(row & ~Self.sharedFlag)
            self.removeShared(row)
            return row < self.classes.rowCount ? self.classes.instances[row] : nil
        }
        let row = Int(row)
        for index in self.fields.indices { self.release(index, row) }
        self.table.remove(row)
        let last = self.instances[self.instances.count - 1]
        if row < self.table.rowCount { self.instances.set(row, last) }
        self.instances.removeLast()
        return row < self.table.rowCount ? last : nil
    }

    private mutating func release(_ field: Int, _ row: Int) {
        guard field != Self.hostField else { return }
        let code = self.table.heldCode(field, row)
        if code != 0 { return self.fields[field].dictionary.release(code) }
        for code in self.table.severalCodes(field, row) { self.fields[field].dictionary.release(code) }
    }

    /// Fills ``values`` and uses each of their codes once more.
    ///
    /// - Parameters:
    ///   - attributes: What is known of the instance.
    ///   - row: The row that may hold the same values.
    private mutating func encode(_ attributes: InstanceAttributes, row: UInt32?) {
        self.resetValues()
        self.encode(Self.familyField, row, Self.familyNames[Int(attributes.family.rawValue)])
        let host = self.code(ofHost: attributes.host)
        self.values[Self.hostField].single = host
        self.values[Self.hostField].isKept = self.guess(Self.hostField, row) == host
        if let field = self.conditionField, let condition = attributes.condition {
            self.encode(field, row, .int(Int64(condition)))
        }
        if !attributes.tags.isEmpty || self.tagsField != nil { self.encode(tags: attributes.tags) }
        var expected = Self.firstParameter
        let parameters = attributes.configuration.parameters
        var place = 0
        while true {
            if let row { place = self.encode(parameters.span, from: place, row, &expected) }
            guard place < parameters.count else { return }
            let name = parameters.span[place].name
            let known = self.fields.span.index(named: name.utf8.span, expected: expected)
            let index = known ?? self.addField(.parameter(UTF8Text(name)))
            self.encode(index, row, parameters.span[place].value)
            expected = index + 1
            place += 1
        }
    }

    private mutating func resetValues() {
        var values = self.values.mutableSpan
        for index in values.indices { values[index].reset() }
    }

    /// Encodes parameters that come in the order of the fields, from the expected one on, and keeps of them what a row has that
    /// is as it was.
    ///
    /// - Returns: The first parameter that is another field's.
    private mutating func encode(
        _ parameters: Span<Configuration.Parameter>,
        from start: Int,
        _ row: UInt32,
        _ expected: inout Int
    ) -> Int {
        let own = Int(row & ~Self.sharedFlag)
        guard row & Self.sharedFlag != 0 else {
            return Self.encode(parameters, start, own, &expected, &self.fields, &self.table.columns, &self.values)
        }
        let number = self.classes.heldClass(own)
        return Self.encode(
            parameters,
            start,
            number,
            &expected,
            &self.fields,
            &self.classes.table.columns,
            &self.values
        )
    }

    private static func encode(
        _ parameters: Span<Configuration.Parameter>,
        _ start: Int,
        _ row: Int,
        _ expected: inout Int,
        _ fields: inout [ValueField],
        _ columns: inout [RowColumn],
        _ values: inout [FieldCodes]
    ) -> Int {
        // Lent once, not for each parameter: whoever writes to an array sees first whether it is his alone.
        var fields = fields.mutableSpan
        var columns = columns.mutableSpan
        var values = values.mutableSpan
        for place in start..<parameters.count {
            guard expected < fields.count else { return place }
            // Short texts are taken as words, and so not counted as referred to.
            let isNamed =
                if let name = ShortText(parameters[place].name) {
                    fields[expected].isNamed(name)
                } else {
                    fields[expected].isNamed(parameters[place].name)
                }
            guard isNamed else { return place }
            if let words = ValueDictionary.words(of: parameters[place].value) {
                let code = columns[expected].heldCode(row)
                values[expected].isKept = code != 0 && fields[expected].holds(code, words)
                values[expected].single = values[expected].isKept ? code : fields[expected].dictionary.use(words)
            } else {
                let value = parameters[place].value
                Self.encode(value, row, &fields[expected], &columns[expected], &values[expected])
            }
            expected += 1
        }
        return parameters.count
    }

    /// The same for one value that is an array or a long text.
    @inline(never)
    private static func encode(
        _ value: ParameterValue,
        _ row: Int,
        _ field: inout ValueField,
        _ column: inout RowColumn,
        _ codes: inout FieldCodes
    ) {
        if case .array(let elements) = value {
            codes.isKept = Self.holds(&field, &column, row, elements)
        } else {
            let code = column.heldCode(row)
            codes.isKept = code != 0 && field.holds(code, value)
            if codes.isKept { codes.single = code }
        }
        if !codes.isKept { field.use(value, into: &codes) }
    }

    /// The code of a host that a row is about to have.
    @inline(__always)
    mutating func code(ofHost host: UInt32) -> UInt32 {
        precondition(host < ElementWord.codeMax, "a milliard of hosts")
        self.highestHost = max(self.highestHost, Int(host) + 1)
        return host + 1
    }

    // Most of what comes again is as it was: then nothing is looked up, counted or changed.

    @inline(__always)
    private mutating func encode(_ field: Int, _ row: UInt32?, _ string: String) {
        let code = self.guess(field, row)
        if code != 0, self.fields[field].holds(code, string) { return self.keep(field, code) }
        self.values[field].single = self.fields[field].dictionary.use(string)
    }

    @inline(__always)
    private mutating func encode(_ field: Int, _ row: UInt32?, _ value: ParameterValue) {
        if case .array(let elements) = value {
            if let row, row & Self.sharedFlag == 0,
                Self.holds(&self.fields[field], &self.table.columns[field], Int(row), elements)
            {
                self.values[field].isKept = true
                return
            }
        } else {
            let code = self.guess(field, row)
            if code != 0, self.fields[field].holds(code, value) { return self.keep(field, code) }
        }
        self.fields[field].use(value, into: &self.values[field])
    }

    /// Whether a row with columns of its own has just these elements, in whatever order and however often; false as well
    /// where it has none or too many to look.
    private static func holds(
        _ field: inout ValueField,
        _ column: inout RowColumn,
        _ row: Int,
        _ elements: [ParameterValue]
    ) -> Bool {
        guard elements.count > 0, let own = column.fewCodes(row) else { return false }
        var seen = 0
        for place in elements.indices {
            var index = 0
            if let words = ValueDictionary.words(of: elements.span[place]) {
                while index < own.count, !field.holds(own.codes[index], words) { index += 1 }
            } else {
                while index < own.count, !field.holds(own.codes[index], elements.span[place]) { index += 1 }
            }
            guard index < own.count else { return false }
            seen |= 1 << index
        }
        return seen == 1 << own.count - 1
    }

    @inline(__always)
    private mutating func guess(_ field: Int, _ row: UInt32?) -> UInt32 {
        // No `map`: what a closure captures would be copied.
        if let row { self.heldCode(field, row) } else { 0 }
    }

    @inline(__always)
    private mutating func keep(_ field: Int, _ code: UInt32) {
        self.values[field].single = code
        self.values[field].isKept = true
    }

    private mutating func encode(tags: [String]) {
        let index: Int
        if let field = self.tagsField {
            index = field
        } else {
            index = self.addField(.tags)
            self.tagsField = index
            // Whoever came before has the empty array of them.
            self.table.makeEmpty(index)
            self.classes.makeEmpty(index)
        }
        self.fields[index].use(tags, into: &self.values[index])
    }

    /// Whether the schema has a field, or there is none.
    @inline(__always)
    func isDeclared(_ field: Int) -> Bool { self.declared[field] }

    private func declares(_ field: MatchField) -> Bool {
        guard let schema = self.schema, case .parameter(let name) = field else { return true }
        return schema[name.description] != nil
    }

    @discardableResult
    private mutating func addField(_ field: MatchField) -> Int {
        self.fields.append(ValueField(field))
        self.declared.append(self.declares(field))
        self.values.append(FieldCodes())
        self.table.addColumn()
        self.classes.addField()
        return self.fields.count - 1
    }

    // MARK: Loading

    func highestCode(_ field: Int) -> Int {
        field == Self.hostField ? self.highestHost : self.fields.span[field].dictionary.highestCode
    }

    /// Keeps no lists until ``finishLoading()``. Precondition: there is no instance.
    mutating func startLoading() {
        self.table.deferLists()
        self.isLoading = true
    }

    /// Returns whether instances have become one of a class, and so have other rows.
    mutating func finishLoading() -> Bool {
        guard self.isLoading else { return false }
        self.isLoading = false
        self.classes.finishLoading(highestHost: self.highestHost)
        // Where there are classes already, what else there is becomes one of them with the changes to come.
        if self.classes.rowCount == 0, self.shareLoaded(keepsLoading: false) { return true }
        for index in self.fields.indices { self.table.buildLists(index, highestCode: self.highestCode(index)) }
        return false
    }

    // MARK: Invariants

    /// What is wrong with the segment; empty if nothing.
    func checkInvariants() -> [String] {
        var faults = self.instances.checkInvariants()
        if self.instances.count != self.table.rowCount { faults.append("rows without an instance") }
        faults += self.classes.checkInvariants(highestHost: self.highestHost)
        for (index, field) in self.fields.enumerated() {
            let highest = self.highestCode(index)
            var found = self.table.columns[index].checkInvariants(rows: self.table.rowCount, codes: highest)
            var uses = [UInt32](repeating: 0, count: highest + 1)
            for row in 0..<self.table.rowCount { self.table.columns[index].forEachCode(row) { uses[Int($0)] += 1 } }
            if index != Self.hostField {
                let classes = self.classes.table.columns[index]
                found += classes.checkInvariants(rows: self.classes.bound, codes: highest)
                for number in 0..<self.classes.bound { classes.forEachCode(number) { uses[Int($0)] += 1 } }
                found += field.dictionary.checkInvariants(uses)
            }
            faults += found.map { "\(field.field): \($0)" }
        }
        return faults.map { "\(self.app)/\(self.kind): \($0)" }
    }
}

/// What the index knows of an instance.
struct InstanceAttributes {
    let family: WidgetFamily
    let host: UInt32
    let tags: [String]
    let configuration: Configuration
    /// The number of its condition.
    var condition: UInt32?
}
