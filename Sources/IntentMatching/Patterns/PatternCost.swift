import WidgetModel

extension MatchPattern {
    /// The highest cost of the pattern, in steps. A step is a few nanoseconds for each value of a parameter that an
    /// instance has, or for each value of a push.
    ///
    /// Each condition on a parameter is one step, with any number of literals: literals are looked up. A condition that
    /// must be judged on the values themselves is ``judging`` more, because it is judged on each of them and noted for
    /// each. So is every operator in it: ``wildcard`` for one that reads all of a value, one for the others and for
    /// literals beside them.
    package var cost: Int {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(0) { $0.addingSaturating($1.cost) }
        case .field(_, let atoms): 1 + Self.judgingCost(atoms)
        }
    }

    /// A condition that is judged on values.
    static let judging = 16
    /// A wildcard.
    static let wildcard = 16

    private static func judgingCost(_ atoms: [MatchAtom]) -> Int {
        let isJudged = atoms.contains { atom in
            if case .anythingBut = atom { atoms.count > 1 } else { atom.isJudged }
        }
        return isJudged ? Self.judging + atoms.steps : 0
    }
}

extension [MatchAtom] {
    /// The steps of looking at one value.
    var steps: Int {
        self.reduce(0) { sum, atom in
            switch atom {
            case .wildcard: sum + MatchPattern.wildcard
            case .anythingBut(let literals): sum + literals.count
            default: sum + 1
            }
        }
    }
}

extension MatchAtom {
    /// Whether values have to be looked at to know which of them satisfy it.
    var isJudged: Bool {
        switch self {
        case .prefix, .suffix, .equalsIgnoreCase, .wildcard, .anythingButPrefix, .numeric: true
        case .equals, .anythingBut, .exists: false
        }
    }
}
