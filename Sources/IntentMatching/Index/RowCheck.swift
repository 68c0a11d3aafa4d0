/// A match pattern in terms of one table: conditions on codes instead of values.
indirect enum RowCheck: Sendable {
    case never
    case always
    /// The row's code in the column, or one of its codes, passes.
    case column(Int, CodeTest)
    case all([RowCheck])
    case any([RowCheck])

    /// All of the checks, as simple as it goes.
    static func joining(_ checks: [RowCheck]) -> RowCheck {
        var parts: [RowCheck] = []
        for check in checks {
            switch check {
            case .never: return .never
            case .always: break
            case .all(let inner): parts += inner
            case .column, .any: parts.append(check)
            }
        }
        return parts.isEmpty ? .always : parts.count == 1 ? parts[0] : .all(parts)
    }

    /// Any of the checks, as simple as it goes.
    static func alternatives(_ checks: [RowCheck]) -> RowCheck {
        var parts: [RowCheck] = []
        for check in checks {
            switch check {
            case .never: break
            case .always: return .always
            case .any(let inner): parts += inner
            case .column, .all: parts.append(check)
            }
        }
        return parts.isEmpty ? .never : parts.count == 1 ? parts[0] : .any(parts)
    }
}

/// A condition on the codes of one column.
struct CodeTest: Sendable {
    enum Form: Sendable {
        /// One of these, ascending, at least one.
        case codes([UInt32])
        /// None of these, ascending, and not absent.
        case except([UInt32])
        /// By code: 1 if it passes. With the codes that pass if they are few and 0 is not among them.
        case table([UInt8], passing: [UInt32]?)
        /// Rows whose values satisfy an atom. For many rows, the table with this number in ``ValueTables`` replaces it;
        /// for few rows, ``CodeJudge`` decides about each of them.
        case values([MatchAtom], table: Int)
    }

    var form: Form
    /// Whether an array without elements passes.
    var acceptsEmpty = false

    /// The codes whose rows are all that pass, if they are known and few.
    var drivers: [UInt32]? {
        guard !self.acceptsEmpty else { return nil }
        switch self.form {
        case .codes(let codes): return codes[0] == 0 ? nil : codes
        case .table(_, let passing): return passing
        case .except, .values: return nil
        }
    }

    /// Whether a code passes; 0 is "absent".
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - judge: Whether the code's value satisfies one of some atoms.
    @inline(__always)
    func passes(_ code: UInt32, _ judge: (UInt32, [MatchAtom]) -> Bool) -> Bool {
        if case .values(let atoms, _) = self.form { judge(code, atoms) } else { self.passes(code) }
    }

    /// The same where no value has to be looked at.
    @inline(__always)
    func passes(_ code: UInt32) -> Bool {
        switch self.form {
        case .codes(let codes): codes.containsAscending(code)
        case .except(let codes): code != 0 && !codes.containsAscending(code)
        case .table(let table, _): table[Int(code)] != 0
        case .values: preconditionFailure("values that were not judged")
        }
    }

    /// The same test as a look into a table: one load for each row, however many codes there are.
    ///
    /// - Parameter highestCode: The highest code that a row may have.
    func tabled(highestCode: Int) -> CodeTest {
        var table = [UInt8](repeating: 0, count: Self.tableSize(highestCode))
        switch self.form {
        case .table, .values: return self
        case .codes(let codes):
            for code in codes { table[Int(code)] = 1 }
        case .except(let codes):
            for code in 1..<highestCode + 1 { table[code] = 1 }
            for code in codes { table[Int(code)] = 0 }
        }
        return CodeTest(form: .table(table, passing: self.drivers), acceptsEmpty: self.acceptsEmpty)
    }

    /// Entries of a table: all that the codes' width can name, so that no look into it needs a check.
    static func tableSize(_ highestCode: Int) -> Int {
        highestCode < 1 << 8 ? 1 << 8 : highestCode < 1 << 16 ? 1 << 16 : highestCode + 1
    }
}

/// Whether the value that a code of a column stands for satisfies one of some atoms. It is lent to a walk: values are not in
/// the table that is walked.
typealias CodeJudge = (_ column: Int, _ code: UInt32, _ atoms: [MatchAtom]) -> Bool

extension [UInt32] {
    /// Whether an ascending array contains a number. O(log n).
    func containsAscending(_ number: UInt32) -> Bool {
        if self.count <= 4 { return self.contains(number) }
        let place = self.span.lowerBound(of: number)
        return place < self.count && self[place] == number
    }
}
