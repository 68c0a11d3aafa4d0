/// The inner loops of a scan, for each width of codes and each form of test.
///
/// Written so that the number of rows kept grows by a number that is computed, not by a jump: Swift turns
/// `condition ? 1 : 0` into a branch, which costs four times as much when half of the rows pass.
enum RowKernel {
    /// 0 for 0, else 1.
    @inline(__always)
    static func nonZero(_ number: UInt32) -> UInt32 {
        (number | (0 &- number)) >> 31
    }

    /// Keeps the rows that a closure accepts.
    @inline(__always)
    static func keep(_ source: Span<UInt32>, _ rows: inout MutableSpan<UInt32>, _ accepts: (Int) -> Bool) -> Int {
        var count = 0
        for index in source.indices {
            let row = source[index]
            rows[count] = row
            if accepts(Int(row)) { count += 1 }
        }
        return count
    }

    /// Sets the marks of the rows of `source` that are in `some`, a part of it in the same order.
    static func mark(_ marks: inout [UInt8], where some: Span<UInt32>, isIn source: Span<UInt32>) {
        var marks = marks.mutableSpan
        var place = 0
        for index in some.indices {
            while source[place] != some[index] { place &+= 1 }
            marks[place] = 1
        }
    }

    /// Keeps the rows whose mark is 1; the others' is 0.
    static func keep(_ source: Span<UInt32>, marked marks: Span<UInt8>, _ rows: inout MutableSpan<UInt32>) -> Int {
        var count = 0
        for index in source.indices {
            rows[count] = source[index]
            count &+= Int(truncatingIfNeeded: marks[index])
        }
        return count
    }

    /// Keeps rows by the number that a computation gives: 1 to keep, 0 to drop.
    @inline(__always)
    private static func select<Code: FixedWidthInteger & UnsignedInteger>(
        _ source: Span<UInt32>,
        _ codes: Span<Code>,
        _ rows: inout MutableSpan<UInt32>,
        _ bit: (UInt32) -> UInt32
    ) -> Int {
        var count = 0
        for index in source.indices {
            let row = source[index]
            rows[count] = row
            count &+= Int(truncatingIfNeeded: bit(UInt32(truncatingIfNeeded: codes[Int(row)])))
        }
        return count
    }

    /// Four codes of which each is one of up to four; nil of more. Repeating the last one changes nothing.
    @inline(__always)
    static func four(_ codes: [UInt32]) -> InlineArray<4, UInt32>? {
        guard let last = codes.last, codes.count <= 4 else { return nil }
        var four = InlineArray<4, UInt32>(repeating: last)
        for index in codes.indices { four[index] = codes[index] }
        return four
    }

    /// Keeps the rows of a column of single values that pass a test.
    static func keep<Code: FixedWidthInteger & UnsignedInteger>(
        _ test: CodeTest,
        _ source: Span<UInt32>,
        _ codes: Span<Code>,
        _ rows: inout MutableSpan<UInt32>,
        _ judge: (UInt32, [MatchAtom]) -> Bool
    ) -> Int {
        switch test.form {
        case .except(let unwanted) where unwanted.isEmpty:
            return Self.select(source, codes, &rows) { Self.nonZero($0) }
        case .except(let unwanted) where unwanted.count <= 3:
            let first = unwanted[0]
            let second = unwanted.count > 1 ? unwanted[1] : first
            let last = unwanted[unwanted.count - 1]
            return Self.select(source, codes, &rows) { code in
                Self.nonZero(code) & Self.nonZero(code ^ first) & Self.nonZero(code ^ second)
                    & Self.nonZero(code ^ last)
            }
        case .table(let table, _):
            let table = table.span
            return Self.select(source, codes, &rows) { UInt32(table[Int($0)]) }
        case .codes, .except, .values:
            return Self.keep(source, &rows) { test.passes(UInt32(truncatingIfNeeded: codes[$0]), judge) }
        }
    }
}
