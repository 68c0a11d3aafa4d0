import WidgetModel

/// The values of some rows in one field: first as keys, then as codes.
struct ValueBatch {
    /// The values, elements of arrays each, in the order of the rows.
    private(set) var keys: [SoughtValue] = []
    /// Their codes; of a row with several ascending, each once.
    var codes: [UInt32] = []
    /// By row, the end of its values; empty if each row has one value or none, code 0.
    var ends: [Int] = []

    /// Begins anew, for another field.
    mutating func start() {
        self.keys.removeAll(keepingCapacity: true)
        self.codes.removeAll(keepingCapacity: true)
        self.ends.removeAll(keepingCapacity: true)
    }

    /// Adds the values of instances at one place of their configurations. Precondition: nothing was added since the
    /// start.
    mutating func add(_ instances: Span<PlainInstance>, place: Int, seed: UInt64) {
        let singles = self.addSingles(instances, place, seed)
        guard singles < instances.count else { return }
        self.ends += 1..<singles + 1
        for index in singles..<instances.count {
            if case .array(let elements) = instances[index].configuration.parameters.span[place].value {
                for element in elements.indices {
                    self.keys.append(ValueDictionary.key(of: elements.span[element], seed: seed))
                }
            } else {
                let value = instances[index].configuration.parameters.span[place].value
                self.keys.append(ValueDictionary.key(of: value, seed: seed))
            }
            self.ends.append(self.keys.count)
        }
    }

    /// The same up to the first array; returns how many these are.
    private mutating func addSingles(_ instances: Span<PlainInstance>, _ place: Int, _ seed: UInt64) -> Int {
        self.keys.append(contentsOf: repeatElement(SoughtValue(hash: 0), count: instances.count))
        var keys = self.keys.mutableSpan
        for index in instances.indices {
            let value = instances[index].configuration.parameters.span[place].value
            if case .array = value {
                self.keys.removeLast(instances.count - index)
                return index
            }
            keys[index] = ValueDictionary.key(of: value, seed: seed)
        }
        return instances.count
    }

    /// Adds a row with an array of no elements. Precondition: so has every other.
    mutating func addEmpty() { self.ends.append(0) }

    /// The row and the element in it of one of the values.
    func place(of value: Int) -> (row: Int, element: Int) {
        guard !self.ends.isEmpty else { return (value, 0) }
        var row = 0
        while self.ends[row] <= value { row += 1 }
        return (row, value - (row == 0 ? 0 : self.ends[row - 1]))
    }
}
