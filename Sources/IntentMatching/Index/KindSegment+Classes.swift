import BasicContainers
import Storage
import WidgetModel

/// The two forms of a kind's rows, and the way from one to the other.
///
/// Rows of both forms may be there at the same time. A query asks both, and each change moves a few more rows to the
/// form that suits the observed configurations. So the rows are never converted all at once, and nothing waits.
extension KindSegment {
    /// Marks the row of an instance that is one of a class.
    static let sharedFlag: UInt32 = 1 << 31
    /// Rows that one change takes along, and looks at.
    private static let stepRows = 8

    /// The code of a row in a field, 0 if it has none or several.
    @inline(__always)
    func code(_ field: Int, _ row: UInt32) -> UInt32 {
        guard row & Self.sharedFlag != 0 else { return self.table.singleCode(field, Int(row)) }
        let row = Int(row & ~Self.sharedFlag)
        guard field != Self.hostField else { return self.classes.host(row) }
        return self.classes.table.singleCode(field, self.classes.classNumber(row))
    }

    // MARK: Changing

    /// Adds an instance with ``values``, each used once more.
    mutating func appendShared(_ instance: UInt32) -> UInt32 {
        let host = self.values[Self.hostField].single
        let number = self.useClass()
        return UInt32(self.classes.append(instance, number, host: host)) | Self.sharedFlag
    }

    /// The class of ``values``, whose uses it takes over.
    private mutating func useClass() -> Int {
        let used = self.classes.use(self.values, host: Self.hostField, tags: self.tagsField)
        guard !used.isNew else { return used.number }
        for index in self.fields.indices where index != Self.hostField {
            self.fields[index].release(self.values[index])
        }
        return used.number
    }

    /// Gives a row of a class the ``values``, of which those that are kept are not used once more.
    mutating func updateShared(_ row: Int, waits: Bool) {
        let host = self.values[Self.hostField].single
        if host != self.classes.host(row) { self.classes.set(row, host: host) }
        let old = self.classes.classNumber(row)
        var isSame = true
        for index in self.fields.indices where index != Self.hostField && !self.values[index].isKept {
            if !self.classes.table.holds(index, self.values[index], old) { isSame = false }
        }
        guard !isSame else {
            for index in self.fields.indices where index != Self.hostField && !self.values[index].isKept {
                self.fields[index].release(self.values[index])
            }
            return
        }
        for index in self.fields.indices where index != Self.hostField && self.values[index].isKept {
            self.values[index] = self.classes.table.columns[index].fieldCodes(old)
            self.fields[index].retain(self.values[index])
        }
        let number = self.useClass()
        if number != old { self.classes.set(row, number, waits: waits) }
        self.leaveClass(old)
    }

    mutating func removeShared(_ row: Int) {
        let number = self.classes.classNumber(row)
        self.classes.remove(row)
        self.leaveClass(number)
    }

    /// Takes back one use of a class, and with the last one those of its values.
    private mutating func leaveClass(_ number: Int) {
        guard self.classes.release(number) else { return }
        for index in self.fields.indices where index != Self.hostField {
            let code = self.classes.table.singleCode(index, number)
            if code != 0 {
                self.fields[index].dictionary.release(code)
            } else {
                for code in self.classes.table.severalCodes(index, number) {
                    self.fields[index].dictionary.release(code)
                }
            }
        }
        self.classes.vacate(number)
    }

    // MARK: From one form to the other

    /// Looks at some more rows, and moves some to the form that suits the observed configurations.
    ///
    /// - Returns: The instances that have another row now.
    mutating func settle() -> [(instance: UInt32, row: UInt32)] {
        guard !self.isLoading else { return self.shareEarly() }
        self.observe()
        var moved: [(instance: UInt32, row: UInt32)] = []
        if self.isShared {
            guard self.table.rowCount > 0 else { return [] }
            for _ in 0..<min(Self.stepRows, self.table.rowCount) { moved.append(self.share()) }
        } else if self.classes.rowCount > 0 {
            for _ in 0..<min(Self.stepRows, self.classes.rowCount) { moved.append(self.unshare()) }
            if self.classes.rowCount == 0 { self.forgetClasses() }
        }
        return moved
    }

    private mutating func observe() {
        guard case .observed(let least) = self.interning else { return }
        if self.isShared {
            // Counted, not estimated, once most of the rows are here.
            if self.classes.count * 4 > self.classes.rowCount, self.table.rowCount == 0 { self.isShared = false }
            return
        }
        guard self.table.rowCount >= least, self.changes >= 0 else { return self.changes += 1 }
        for _ in 0..<2 where self.survey.rows < self.table.rowCount { self.survey.add(self.hash(self.survey.rows)) }
        if self.survey.rows >= self.table.rowCount { self.concludeSurvey() }
    }

    /// Decides by the survey of all rows, and waits as many changes as there are rows until the next.
    private mutating func concludeSurvey() {
        if self.survey.distinct * 8 < self.table.rowCount { self.isShared = true }
        self.changes = -self.table.rowCount
        self.survey = ConfigurationSurvey()
    }

    private func hash(_ row: Int) -> UInt64 {
        var hash: UInt64 = 0
        for index in self.fields.indices where index != Self.hostField {
            self.table.columns[index].fold(row, into: &hash)
        }
        return SeededHash.fold(hash)
    }

    /// Makes the last row one of a class.
    private mutating func share() -> (instance: UInt32, row: UInt32) {
        let row = self.table.rowCount - 1
        let instance = self.instances[row]
        self.load(row)
        let shared = self.appendShared(instance)
        self.table.remove(row)
        self.instances.removeLast()
        return (instance, shared)
    }

    /// Reads a row into ``values``, whose uses are the row's.
    private mutating func load(_ row: Int) {
        for index in self.values.indices {
            self.values[index] = self.table.columns[index].fieldCodes(row)
        }
    }

    /// Gives the last row of a class columns of its own.
    private mutating func unshare() -> (instance: UInt32, row: UInt32) {
        let row = self.classes.rowCount - 1
        let instance = self.classes.instances[row]
        let number = self.classes.classNumber(row)
        for index in self.fields.indices {
            self.values[index].reset()
            if index == Self.hostField {
                self.values[index].single = self.classes.host(row)
            } else {
                self.values[index] = self.classes.table.columns[index].fieldCodes(number)
                self.fields[index].retain(self.values[index])
            }
        }
        self.table.append(self.values)
        self.instances.append(instance)
        self.classes.remove(row)
        self.leaveClass(number)
        return (instance, UInt32(self.table.rowCount - 1))
    }

    /// Gives the memory of classes back once no instance is one of them.
    private mutating func forgetClasses() {
        self.classes = InstanceClasses()
        for _ in self.fields.indices { self.classes.addField() }
    }

    // MARK: Loading

    /// Decides by all rows at once, and makes them rows of classes if that suits, in their order.
    ///
    /// - Parameter keepsLoading: Whether more is loaded, and lists are still left out.
    /// - Returns: Whether it did.
    mutating func shareLoaded(keepsLoading: Bool) -> Bool {
        switch self.interning {
        case .never: return false
        case .always: self.isShared = true
        case .observed(let least):
            guard self.table.rowCount >= least else { return false }
            // The rows can have no fewer configurations than were seen so far: most rows need not be looked at.
            while self.survey.rows < self.table.rowCount, self.survey.distinct * 8 < self.table.rowCount {
                self.survey.add(self.hash(self.survey.rows))
            }
            self.concludeSurvey()
        }
        guard self.isShared else { return false }
        self.classes.startLoading()
        for row in 0..<self.table.rowCount {
            self.load(row)
            _ = self.appendShared(self.instances[row])
        }
        self.table = RowTable()
        self.instances = InstanceColumn()
        for _ in self.fields.indices { self.table.addColumn() }
        guard !keepsLoading else { return true }
        self.classes.finishLoading(highestHost: self.highestHost)
        return true
    }
}

extension RowColumn {
    /// The codes of a row.
    func fieldCodes(_ row: Int) -> FieldCodes {
        var codes = FieldCodes(single: self.singleCode(row))
        guard self.isArray, codes.single == 0, self.words[row] != ElementWord.absent else { return codes }
        codes.isArray = true
        codes.elements = ElementWord.codes(self.words[row], self.store.elements.span)
        return codes
    }
}
