package import WidgetModel

/// An element that has a name among others.
package protocol NamedMember: Sendable {
    associatedtype Name: Hashable & Sendable
    var name: Name { get }
}

extension JSONValue.Member: NamedMember {}

/// Members that are looked up by name, each as fast however many a peer sends.
package struct NamedMembers<Member: NamedMember>: Sendable {
    /// How many are compared one by one; more are looked up.
    private static var comparedMax: Int { 16 }

    package let all: [Member]
    /// By name: which member it is. Nil for few.
    private let places: [Member.Name: Int]?

    package init(_ all: [Member]) {
        self.all = all
        self.places =
            all.count > Self.comparedMax
            ? Dictionary(zip(all.map(\.name), all.indices), uniquingKeysWith: { first, _ in first }) : nil
    }

    /// The first member of a name.
    package func first(named name: Member.Name) -> Member? {
        guard let places = self.places else { return self.all.first { $0.name == name } }
        return places[name].map { self.all[$0] }
    }
}
