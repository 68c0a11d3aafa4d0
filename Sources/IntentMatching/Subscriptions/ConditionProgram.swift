import WidgetModel

/// A condition in words: an atom's number; or "all of" or "any of" with the number of words of the parts that follow.
/// Equal conditions are equal words, since equal atoms have one number.
enum ConditionProgram {
    enum Kind {
        case atom
        case all
        case any
    }

    static func all(_ length: Int) -> UInt32 { 1 << 30 | UInt32(length) }
    static func any(_ length: Int) -> UInt32 { 2 << 30 | UInt32(length) }

    @inline(__always)
    static func kind(_ word: UInt32) -> Kind {
        switch word >> 30 {
        case 0: .atom
        case 1: .all
        default: .any
        }
    }

    /// The words of the parts of a word that is no atom.
    @inline(__always)
    static func length(_ word: UInt32) -> Int { Int(word & 0x3FFF_FFFF) }

    /// Calls `body` with each atom, with its flag.
    static func forEachAtom(_ program: [UInt32], _ body: (UInt32) -> Void) {
        for word in program where self.kind(word) == .atom { body(word) }
    }

    /// Calls `body` with the range of each part of the word at an index.
    @inline(__always)
    static func forEachPart(_ program: [UInt32], _ index: Int, _ body: (Range<Int>) -> Void) {
        var start = index + 1
        let end = start + self.length(program[index])
        while start < end {
            let own = self.kind(program[start]) == .atom ? 0 : self.length(program[start])
            body(start..<start + 1 + own)
            start += 1 + own
        }
    }

    // MARK: Rests

    /// The longest rest that is kept beside an expression, in words.
    static let restMax = 64
    /// The rest is longer: the expression's own words are evaluated.
    static let elsewhere: UInt32 = 3 << 30

    /// The words of a rest, by its first word; none if it is ``elsewhere``.
    @inline(__always)
    static func restLength(_ word: UInt32) -> Int { word == self.elsewhere ? 0 : self.length(word) }

    /// The rest of a program when two atoms are known to hold: its length, then the parts, which all must hold.
    static func rest(of program: [UInt32], without first: UInt32?, _ second: UInt32?, _ rest: inout [UInt32]) {
        rest.removeAll(keepingCapacity: true)
        rest.append(0)
        func add(_ part: Range<Int>) {
            if part.count == 1, program[part.lowerBound] == first || program[part.lowerBound] == second { return }
            for index in part { rest.append(program[index]) }
        }
        if let word = program.first, self.kind(word) == .all {
            self.forEachPart(program, 0) { add($0) }
        } else {
            add(program.indices)
        }
        if rest.count - 1 <= self.restMax {
            rest[0] = self.all(rest.count - 1)
        } else {
            rest.removeAll(keepingCapacity: true)
            rest.append(self.elsewhere)
        }
    }
}
