/// An enumeration whose cases' spellings are words of the API and of files.
package protocol NamedCase: CaseIterable, Hashable, Sendable {
    static var names: CaseNames<Self> { get }
}

extension NamedCase {
    /// The case as its declaration spells it.
    package var name: String { Self.names.name(of: self) }

    /// The case of a name; nil if no case has it.
    package init?(name: String) {
        guard let named = Self.names.first(named: name) else { return nil }
        self = named
    }
}

/// The names of all cases. Swift finds a single name by reflection, which takes thousands of instructions.
package struct CaseNames<Case: CaseIterable & Hashable & Sendable>: Sendable {
    private let names: [Case: String]
    private let cases: [String: Case]

    package init() {
        self.names = Dictionary(uniqueKeysWithValues: Case.allCases.map { ($0, String(describing: $0)) })
        self.cases = Dictionary(uniqueKeysWithValues: self.names.map { ($1, $0) })
    }

    /// The name of a case.
    package func name(of one: Case) -> String { self.names[one] ?? String(describing: one) }

    /// The case of a name; nil if no case has it.
    package func first(named name: String) -> Case? { self.cases[name] }
}
