import BasicContainers
import Storage

/// A check in bits for each row, as steps on a stack of bitmaps, so that the work of many conditions can be done in parts.
struct DenseProgram: Sendable {
    enum Step: Sendable {
        /// The rows on the lists of some codes, or all the others; puts a bitmap on the stack.
        case marks(column: Int, codes: [UInt32], isRest: Bool)
        /// The rows whose codes pass; puts a bitmap on the stack.
        case scan(column: Int, CodeTest)
        /// Each makes one bitmap of the two on top.
        case and
        case or
        /// Goes on at a step if no row has passed so far.
        case skipIfEmpty(to: Int)
    }

    var steps: [Step] = []

    /// The conditions on single columns.
    var leafCount: Int {
        self.steps.count { step in
            switch step {
            case .marks, .scan: true
            case .and, .or, .skipIfEmpty: false
            }
        }
    }
}

/// Finds rows as bitmaps, 65,536 rows at a time: they stay in the processor's first cache, and a check that few rows
/// pass costs no more than one that most pass.
struct DenseScan {
    static let words = 1024
    /// The work that one call of ``evaluate(_:_:block:_:)`` may do, about: a condition on arrays, or some hundred on
    /// plain codes.
    static let workMax = 256
    /// A condition on arrays of a block's rows; on plain codes it is 1.
    private static let arrayWork = 256

    /// The step that is next, and the results of the steps before.
    private var step = 0
    private var stack: [[UInt64]] = []
    /// The bits of the rows that passed, once a block is finished.
    private(set) var result: [UInt64] = []
    /// Bitmaps that are not used at the moment.
    private var spare: [[UInt64]] = []

    /// Finds the rows of a block that pass, or goes on with that.
    ///
    /// - Parameter work: The work that may still be done; afterwards, the rest of it. At least one step is done.
    /// - Returns: Whether it is finished: then the bits of the rows that pass are set in ``result``.
    mutating func evaluate(
        _ program: DenseProgram,
        _ table: borrowing RowTable,
        block: Int,
        _ work: inout Int
    ) -> Bool {
        if self.step == program.steps.count { self.step = 0 }
        while self.step < program.steps.count {
            let step = program.steps[self.step]
            self.step += 1
            switch step {
            case .marks(let column, let codes, let isRest):
                self.mark(column, codes, isRest, table, block)
                work -= 1 + codes.count / 64
            case .scan(let column, let test):
                self.scan(column, test, table, block)
                work -= table.columns[column].isArray ? Self.arrayWork : 1
            case .and: self.join(isBoth: true)
            case .or: self.join(isBoth: false)
            case .skipIfEmpty(let end):
                if !self.stack[self.stack.count - 1].contains(where: { $0 != 0 }) { self.step = end }
            }
            if work <= 0 { break }
        }
        guard self.step == program.steps.count, let last = self.stack.popLast() else { return false }
        if !self.result.isEmpty { self.spare.append(self.result) }
        self.result = last
        return true
    }

    private mutating func borrow() -> [UInt64] {
        self.spare.popLast() ?? [UInt64](repeating: 0, count: Self.words)
    }

    /// Makes one bitmap of the two on top.
    private mutating func join(isBoth: Bool) {
        guard let other = self.stack.popLast(), var words = self.stack.popLast() else { return }
        if isBoth {
            for index in 0..<Self.words { words[index] &= other[index] }
        } else {
            for index in 0..<Self.words { words[index] |= other[index] }
        }
        self.stack.append(words)
        self.spare.append(other)
    }

    private mutating func mark(
        _ column: Int,
        _ codes: [UInt32],
        _ isRest: Bool,
        _ table: borrowing RowTable,
        _ block: Int
    ) {
        var words = self.borrow()
        for index in 0..<Self.words { words[index] = isRest ? .max : 0 }
        for code in codes { table.columns[column].lists.mark(&words, code, block: block, set: !isRest) }
        if isRest { words.clear(from: min(table.rowCount - block << 16, 1 << 16)) }
        self.stack.append(words)
    }

    private mutating func scan(
        _ column: Int,
        _ test: CodeTest,
        _ table: borrowing RowTable,
        _ block: Int
    ) {
        var words = self.borrow()
        let rows = min(table.rowCount - block << 16, 1 << 16)
        let range = block << 16..<block << 16 + rows
        table.columns[column].scan(test, rows: range, into: &words)
        words.clear(from: rows)
        self.stack.append(words)
    }
}

extension RowColumn {
    /// Sets the bits of the rows that pass, relative to the first one, and clears those of the others.
    func scan(_ test: CodeTest, rows: Range<Int>, into words: inout [UInt64]) {
        var words = words.mutableSpan
        guard !self.isArray else { return self.scanArrays(test, rows, &words) }
        switch (test.form, self.codes.width) {
        case (.codes(let codes), _) where codes.count <= 4: self.scan(codes, isRest: false, rows, &words)
        case (.except(let codes), _) where codes.count <= 3: self.scan([0] + codes, isRest: true, rows, &words)
        case (.table(let table, _), .one):
            Kernels.table(self.codes.narrow.span.extracting(rows), table.span, &words)
        case (.table(let table, _), .two):
            Kernels.table(self.codes.medium.span.extracting(rows), table.span, &words)
        case (.table(let table, _), .four):
            let codes = self.codes.wide.span
            let table = table.span
            Self.scan(rows, &words) { table[Int(codes[$0])] != 0 }
        default: Self.scan(rows, &words) { test.passes(self.codes[$0]) }
        }
    }

    private func scanArrays(_ test: CodeTest, _ rows: Range<Int>, _ words: inout MutableSpan<UInt64>) {
        guard case .table(let table, _) = test.form else {
            return Self.scan(rows, &words) { self.passes($0, test.acceptsEmpty) { test.passes($0) } }
        }
        let entries = table.span
        Self.scan(rows, &words) { self.passes($0, test.acceptsEmpty) { entries[Int($0)] != 0 } }
    }

    @inline(__always)
    private static func scan(_ rows: Range<Int>, _ words: inout MutableSpan<UInt64>, _ passes: (Int) -> Bool) {
        var index = 0
        while index * 64 < rows.count {
            let start = rows.lowerBound + index * 64
            let count = min(64, rows.upperBound - start)
            var word: UInt64 = 0
            for bit in 0..<count { word |= (passes(start + bit) ? 1 : 0) << UInt64(bit) }
            words[index] = word
            index += 1
        }
    }

    /// The rows with one of a few codes, or the rows with none of them.
    private func scan(_ wanted: [UInt32], isRest: Bool, _ rows: Range<Int>, _ words: inout MutableSpan<UInt64>) {
        let count = (rows.count + 63) / 64
        var other = [UInt64](repeating: 0, count: wanted.count > 1 ? count : 0)
        for (index, code) in wanted.enumerated() {
            if index == 0 {
                self.equal(code, rows, &words)
            } else {
                var span = other.mutableSpan
                self.equal(code, rows, &span)
                for word in 0..<count { words[word] |= span[word] }
            }
        }
        if isRest { for word in 0..<count { words[word] = ~words[word] } }
    }

    private func equal(_ code: UInt32, _ rows: Range<Int>, _ words: inout MutableSpan<UInt64>) {
        switch self.codes.width {
        // A code that is too wide for the column is in no row of it.
        case .one where code > UInt8.max, .two where code > UInt16.max:
            for index in 0..<(rows.count + 63) / 64 { words[index] = 0 }
        case .one: Kernels.equal(self.codes.narrow.span.extracting(rows), code, &words)
        case .two: Kernels.equal(self.codes.medium.span.extracting(rows), code, &words)
        case .four: Kernels.equal(self.codes.wide.span.extracting(rows), code, &words)
        }
    }
}

extension [UInt64] {
    /// Clears all bits from one on.
    mutating func clear(from bit: Int) {
        guard bit < self.count * 64 else { return }
        self[bit >> 6] &= 1 << UInt64(bit & 63) &- 1
        for index in (bit >> 6 + 1)..<self.count { self[index] = 0 }
    }
}
