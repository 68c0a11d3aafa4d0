import BasicContainers
import Storage
import WidgetModel

/// The instances of one kind of one app, in columns of value codes.
///
/// Nothing is rebuilt: an instance that goes is replaced by the last row, one that is configured anew changes in its row,
/// and values that no instance has any more give their codes and memory to others.
struct KindSegment: ~Copyable {
    static let familyField = 0
    static let hostField = 1
    static let firstParameter = 2
    static let familyNames = WidgetFamily.allCases.map(\.name)

    let app: BundleID
    let kind: WidgetKind
    var schema: KindSchema? {
        didSet {
            for index in self.fields.indices {
                let field = self.fields[index].field
                self.declared[index] = self.declares(field)
            }
        }
    }
    /// Family, host, then parameters in the order in which they first came, and among them tags. No value of the host's
    /// is kept here: its codes are the caller's numbers of hosts, plus one.
    var fields = UniqueArray<ValueField>()
    /// The highest code that a row ever had of a host.
    private(set) var highestHost = 0
    /// By field: whether the schema has it, if there is one.
    private(set) var declared: [Bool] = []
    /// Which field is tags; nil while no instance has had one, as with most kinds.
    private(set) var tagsField: Int?
    /// Which field is the number of the instance's condition; nil if the instances have none.
    private(set) var conditionField: Int?
    /// The rows, and their instances.
    var table = RowTable()
    var instances = InstanceColumn()
    private(set) var isLoading = false
    /// The values of the instance that is being changed, by field.
    var values: [FieldCodes] = []

    /// - Parameters:
    ///   - app: The app.
    ///   - kind: The kind.
    ///   - isConditional: Whether its instances have a `when`. Instances without one are in another segment, so each
    ///     condition's instances are on a list and no others need a look.
    init(app: BundleID, kind: WidgetKind, isConditional: Bool) {
        self.app = app
        self.kind = kind
        self.addField(.family)
        self.addField(.host)
        // No parameter has a name that starts so.
        if isConditional { self.conditionField = self.addField(.parameter("$when")) }
    }

    var count: Int { self.table.rowCount }

    // Bytes of memory held, by purpose.
    var columnByteCount: Int { self.table.columnByteCount + self.instances.byteCount }
    var listByteCount: Int { self.table.listByteCount }
    var valueByteCount: Int {
        self.fields.indices.reduce(0) { $0 + self.fields[$1].dictionary.byteCount }
    }

    // MARK: Changing

    /// Appends a row and returns its number.
    mutating func append(_ instance: InstanceNumber, _ attributes: InstanceAttributes) -> UInt32 {
        self.encode(attributes, nil)
        let row = self.table.rowCount
        self.table.append(self.values)
        self.instances.append(instance)
        return UInt32(row)
    }

    /// Gives a row other values; equal ones are not touched.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - attributes: The attributes of its instance now.
    ///   - waits: Whether the lists may wait for ``finishChanges()``.
    mutating func update(_ row: UInt32, _ attributes: InstanceAttributes, waits: Bool) {
        let row = Int(row)
        self.encode(attributes, row)
        for index in self.fields.indices where !self.values[index].isKept {
            if waits, !self.values[index].isArray,
                let old = self.table.columns[index].change(row, to: self.values[index].single)
            {
                if old != 0, index != Self.hostField { self.fields[index].dictionary.release(old) }
                continue
            }
            guard !self.table.columns[index].holds(self.values[index], row) else {
                if index != Self.hostField { self.fields[index].release(self.values[index]) }
                continue
            }
            self.release(index, row)
            self.table.columns[index].set(row, self.values[index])
        }
    }

    mutating func finishChanges() { self.table.finishChanges() }

    /// Removes a row and returns the instance that has its number now, if there is one.
    mutating func remove(_ row: UInt32) -> InstanceNumber? {
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
        let code = self.table.singleCode(field, row)
        if code != 0 { return self.fields[field].dictionary.release(code) }
        for code in self.table.columns[field].severalCodes(row) { self.fields[field].dictionary.release(code) }
    }

    // MARK: Values

    /// Fills ``values`` and uses each of their codes once more, but of those that are kept.
    ///
    /// - Parameters:
    ///   - attributes: The attributes of the instance.
    ///   - row: The row that the instance has already, which may hold the same values; nil for none.
    private mutating func encode(_ attributes: InstanceAttributes, _ row: Int?) {
        for index in self.values.indices { self.values[index].reset() }
        self.encode(Self.familyField, row, .string(Self.familyNames[Int(attributes.family.rawValue)]))
        let host = self.code(ofHost: attributes.host)
        self.values[Self.hostField].single = host
        self.values[Self.hostField].isKept = self.code(Self.hostField, row) == host
        if let field = self.conditionField, let condition = attributes.condition {
            self.encode(field, row, .int(Int64(condition.raw)))
        }
        if !attributes.tags.isEmpty || self.tagsField != nil { self.encode(tags: attributes.tags) }
        var expected = Self.firstParameter
        let parameters = attributes.configuration.parameters
        for place in parameters.indices {
            let name = parameters.span[place].name
            let known = self.fields.index(named: name.utf8.span, expected: expected)
            let index = known ?? self.addField(.parameter(UTF8Text(name)))
            self.encode(index, row, parameters.span[place].value)
            expected = index + 1
        }
    }

    /// The code of a host that a row is about to have.
    @inline(__always)
    mutating func code(ofHost host: HostNumber) -> UInt32 {
        precondition(host.raw < ElementWord.codeMax, "a billion hosts")
        self.highestHost = max(self.highestHost, host.index + 1)
        return host.raw + 1
    }

    /// The code of a known row in a field, 0 if it has none or several.
    @inline(__always)
    private func code(_ field: Int, _ row: Int?) -> UInt32 { row.map { self.table.singleCode(field, $0) } ?? 0 }

    /// Encodes a value. Most values that come again are unchanged: then nothing is looked up, counted or changed.
    @inline(__always)
    private mutating func encode(_ field: Int, _ row: Int?, _ value: ParameterValue) {
        guard let words = ValueDictionary.words(of: value) else { return self.encodeLong(field, row, value) }
        let code = self.code(field, row)
        self.values[field].isKept = code != 0 && self.fields[field].dictionary.holds(code, words)
        self.values[field].single =
            self.values[field].isKept ? code : self.fields[field].dictionary.internCode(of: words)
    }

    /// The same for a value that is an array or a long text.
    @inline(never)
    private mutating func encodeLong(_ field: Int, _ row: Int?, _ value: ParameterValue) {
        if case .array(let elements) = value {
            self.values[field].isKept = self.holds(field, row, elements)
        } else {
            let code = self.code(field, row)
            self.values[field].isKept = code != 0 && self.fields[field].dictionary.holds(code, value)
            if self.values[field].isKept { self.values[field].single = code }
        }
        if !self.values[field].isKept { self.fields[field].internCodes(of: value, into: &self.values[field]) }
    }

    /// Whether a known row has just these elements, in whatever order and however often; false as well where it has none or
    /// too many to look.
    private func holds(_ field: Int, _ row: Int?, _ elements: [ParameterValue]) -> Bool {
        guard elements.count > 0, let row, let known = self.table.columns[field].fewCodes(row) else { return false }
        var seen = 0
        for place in elements.indices {
            var index = 0
            if let words = ValueDictionary.words(of: elements.span[place]) {
                while index < known.count, !self.fields[field].dictionary.holds(known.codes[index], words) {
                    index += 1
                }
            } else {
                let element = elements.span[place]
                while index < known.count, !self.fields[field].dictionary.holds(known.codes[index], element) {
                    index += 1
                }
            }
            guard index < known.count else { return false }
            seen |= 1 << index
        }
        return seen == 1 << known.count - 1
    }

    private mutating func encode(tags: [String]) {
        let index: Int
        if let field = self.tagsField {
            index = field
        } else {
            index = self.addField(.tags)
            self.tagsField = index
            // Each instance that came before has the empty array of them.
            self.table.makeEmpty(index)
        }
        self.fields[index].internCodes(of: tags, into: &self.values[index])
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
        return self.fields.count - 1
    }

    // MARK: Loading

    func highestCode(_ field: Int) -> Int {
        field == Self.hostField ? self.highestHost : self.fields[field].dictionary.highestCode
    }

    /// Keeps no lists until ``finishLoading()``. Precondition: there is no instance.
    mutating func startLoading() {
        self.table.deferLists()
        self.isLoading = true
    }

    /// Builds the lists that ``startLoading()`` omitted.
    mutating func finishLoading() {
        guard self.isLoading else { return }
        self.isLoading = false
        for index in self.fields.indices { self.table.buildLists(index, highestCode: self.highestCode(index)) }
    }

    // MARK: Invariants

    /// The faults of the segment; empty if there are none.
    func checkInvariants() -> [String] {
        var faults = self.instances.checkInvariants()
        if self.instances.count != self.table.rowCount { faults.append("rows without an instance") }
        for index in self.fields.indices {
            let highest = self.highestCode(index)
            var found = self.table.columns[index].checkInvariants(rows: self.table.rowCount, codes: highest)
            var uses = [UInt32](repeating: 0, count: highest + 1)
            for row in 0..<self.table.rowCount { self.table.columns[index].forEachCode(row) { uses[Int($0)] += 1 } }
            if index != Self.hostField {
                found += self.fields[index].dictionary.checkInvariants(uses)
            }
            faults += found.map { "\(self.fields[index].field): \($0)" }
        }
        return faults.map { "\(self.app)/\(self.kind): \($0)" }
    }
}

/// The index's attributes of an instance.
struct InstanceAttributes {
    let family: WidgetFamily
    let host: HostNumber
    let tags: [String]
    let configuration: Configuration
    var condition: ExpressionNumber?
}
