// The filters of a scan. Each copies those of some hundred ascending rows that pass, in their order, so that filters
// follow one another and what one drops can be told by comparing its input with its output.

extension RowTable {
    /// Copies the rows that pass a check to the front of `rows` and returns how many they are.
    func keep(_ check: RowCheck, _ source: Span<UInt32>, _ rows: inout [UInt32]) -> Int {
        switch check {
        case .never: return 0
        case .always: return RowKernel.keep(source, &rows) { _ in true }
        case .all(let parts):
            var count = self.keep(parts[0], source, &rows)
            var spare = [UInt32](repeating: 0, count: count)
            for part in parts.dropFirst() where count > 0 {
                count = self.keep(part, rows.span.extracting(first: count), &spare)
                for index in 0..<count { rows[index] = spare[index] }
            }
            return count
        case .any(let parts):
            var marks = [UInt8](repeating: 0, count: source.count)
            for part in parts {
                let kept = self.keep(part, source, &rows)
                RowKernel.mark(&marks, where: rows.span.extracting(first: kept), isIn: source, as: 1)
            }
            return RowKernel.keep(source, marked: marks.span, &rows)
        case .column(let index, let test):
            guard !self.columns[index].isArray else {
                return self.columns.span[index].withArrays(of: test) { passes in
                    RowKernel.keep(source, &rows, passes)
                }
            }
            return self.columns.span[index].codes.keep(test, source, &rows)
        }
    }
}

extension CodeColumn {
    /// Keeps the rows whose codes pass: the usual tests in C.
    fileprivate func keep(_ test: CodeTest, _ source: Span<UInt32>, _ rows: inout [UInt32]) -> Int {
        var target = rows.mutableSpan
        switch (test.form, self.width) {
        case (.codes(let codes), _):
            if let wanted = RowKernel.four(codes) { return self.keep(wanted, source, &target) }
        case (.table(let table, _), .one):
            return self.narrow.withSpan { Kernels.pick(source, $0, table.span, into: &target) }
        case (.table(let table, _), .two):
            return self.medium.withSpan { Kernels.pick(source, $0, table.span, into: &target) }
        case (.table, .four), (.except, _), (.values, _): break
        }
        switch self.width {
        case .one: return self.narrow.withSpan { RowKernel.keep(test, source, $0, &rows) }
        case .two: return self.medium.withSpan { RowKernel.keep(test, source, $0, &rows) }
        case .four: return self.wide.withSpan { RowKernel.keep(test, source, $0, &rows) }
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
        case .one: self.narrow.withSpan { Kernels.keep(source, $0, wanted.span, into: &rows) }
        case .two: self.medium.withSpan { Kernels.keep(source, $0, wanted.span, into: &rows) }
        case .four: self.wide.withSpan { Kernels.keep(source, $0, wanted.span, into: &rows) }
        }
    }
}

extension RowColumn {
    /// Calls `body` with what tells of a row of arrays whether its value, or an element of it, passes.
    @inline(__always)
    func withArrays<Result>(of test: CodeTest, _ body: ((Int) -> Bool) -> Result) -> Result {
        self.words.withSpan { words in
            self.pool.elements.withSpan { elements in
                // Here and not for each element: taking the table out of the test counts references.
                guard case .table(let table, _) = test.form else {
                    return body { Self.passes(words[$0], elements, test.acceptsEmpty) { test.passes($0) } }
                }
                let entries = table.span
                return body { Self.passes(words[$0], elements, test.acceptsEmpty) { entries[Int($0)] != 0 } }
            }
        }
    }

    @inline(__always)
    private static func passes(
        _ word: UInt32,
        _ elements: Span<UInt32>,
        _ acceptsEmpty: Bool,
        _ passes: (UInt32) -> Bool
    ) -> Bool {
        if word == ElementWord.absent { return passes(0) }
        if word == ElementWord.empty { return acceptsEmpty }
        return ElementWord.contains(word, elements, where: passes)
    }
}
