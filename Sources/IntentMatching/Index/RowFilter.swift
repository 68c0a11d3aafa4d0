import BasicContainers
import Storage

// The filters of a scan. Each copies those of some hundred ascending rows that pass, in their order, so that filters
// follow one another, and the dropped rows of one are the difference between its input and its output.

extension RowTable {
    /// Copies the rows that pass a check to the front of `rows` and returns how many they are.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - source: The rows, ascending.
    ///   - rows: Precondition: room for all of them.
    ///   - judge: The check's judgements of values.
    func keep(
        _ check: RowCheck,
        _ source: Span<UInt32>,
        _ rows: inout MutableSpan<UInt32>,
        _ judge: CodeJudge
    ) -> Int {
        switch check {
        case .never: return 0
        case .always: return RowKernel.keep(source, &rows) { _ in true }
        case .all(let parts):
            var count = self.keep(parts[0], source, &rows, judge)
            var spare = [UInt32](repeating: 0, count: count)
            for part in parts.dropFirst() where count > 0 {
                for index in 0..<count { spare[index] = rows[index] }
                count = self.keep(part, spare.span.extracting(first: count), &rows, judge)
            }
            return count
        case .any(let parts):
            var marks = [UInt8](repeating: 0, count: source.count)
            for part in parts {
                let kept = self.keep(part, source, &rows, judge)
                RowKernel.mark(&marks, where: rows.span.extracting(first: kept), isIn: source)
            }
            return RowKernel.keep(source, marked: marks.span, &rows)
        case .column(let index, let test):
            return self.columns[index].keep(test, source, &rows) { judge(index, $0, $1) }
        }
    }
}

extension RowColumn {
    /// Keeps the rows whose codes pass.
    fileprivate func keep(
        _ test: CodeTest,
        _ source: Span<UInt32>,
        _ rows: inout MutableSpan<UInt32>,
        _ judge: (UInt32, [MatchAtom]) -> Bool
    ) -> Int {
        guard self.isArray else { return self.codes.keep(test, source, &rows, judge) }
        // Here and not for each element: taking the table out of the test counts references.
        guard case .table(let table, _) = test.form else {
            return RowKernel.keep(source, &rows) { self.passes($0, test.acceptsEmpty) { test.passes($0, judge) } }
        }
        let entries = table.span
        return RowKernel.keep(source, &rows) { self.passes($0, test.acceptsEmpty) { entries[Int($0)] != 0 } }
    }

    /// Whether a row of arrays has a value that passes, or an element of one.
    @inline(__always)
    func passes(_ row: Int, _ acceptsEmpty: Bool, _ passes: (UInt32) -> Bool) -> Bool {
        let word = self.words[row]
        if word == ElementWord.absent { return passes(0) }
        if word == ElementWord.empty { return acceptsEmpty }
        return ElementWord.contains(word, self.store.elements.span, where: passes)
    }
}

extension PackedIntegers {
    /// Keeps the rows whose codes pass: the usual tests in C.
    fileprivate func keep(
        _ test: CodeTest,
        _ source: Span<UInt32>,
        _ rows: inout MutableSpan<UInt32>,
        _ judge: (UInt32, [MatchAtom]) -> Bool
    ) -> Int {
        switch (test.form, self.width) {
        case (.codes(let codes), _):
            if let wanted = RowKernel.four(codes) { return self.keep(wanted, source, &rows) }
        case (.table(let table, _), .one): return Kernels.pick(source, self.narrow.span, table.span, into: &rows)
        case (.table(let table, _), .two): return Kernels.pick(source, self.medium.span, table.span, into: &rows)
        case (.table, .four), (.except, _), (.values, _): break
        }
        switch self.width {
        case .one: return RowKernel.keep(test, source, self.narrow.span, &rows, judge)
        case .two: return RowKernel.keep(test, source, self.medium.span, &rows, judge)
        case .four: return RowKernel.keep(test, source, self.wide.span, &rows, judge)
        }
    }

    /// Keeps the rows with one of four codes.
    @inline(__always)
    func keep(
        _ wanted: InlineArray<4, UInt32>,
        _ source: Span<UInt32>,
        _ rows: inout MutableSpan<UInt32>
    ) -> Int {
        switch self.width {
        case .one: Kernels.keep(source, self.narrow.span, wanted.span, into: &rows)
        case .two: Kernels.keep(source, self.medium.span, wanted.span, into: &rows)
        case .four: Kernels.keep(source, self.wide.span, wanted.span, into: &rows)
        }
    }
}
