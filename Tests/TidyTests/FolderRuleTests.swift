import Testing

/// The rule about folders catches a planted circle and lets its neighbour pass.
@Suite struct FolderRuleTests {
    private static let low = SwiftText("/// High\npackage struct Low {}\nprivate struct High {}\n")
    private static let high = SwiftText("@frozen package final class High { let low: Low }\n")

    private func files(_ others: [(String, String)] = []) -> [(path: String, source: SwiftText)] {
        [("Sources/A/Low/Low.swift", Self.low), ("Sources/A/High/High.swift", Self.high)]
            + others.map { ($0.0, SwiftText($0.1)) }
    }

    @Test func `types at the margin are declared for others, private ones are not`() {
        #expect(FolderRules.declared(in: Self.low).forOthers == ["Low"])
        #expect(FolderRules.declared(in: Self.low).own == ["High"])
        #expect(FolderRules.declared(in: Self.high).forOthers == ["High"])
        let nested = SwiftText("enum A {\n    enum B {}\n}\nstruct C<T>: D { private let e = 1 }\n")
        #expect(FolderRules.declared(in: nested).forOthers == ["A", "C"])
    }

    @Test func `a module of a type's name is none`() {
        let imports = [("Sources/A/Low/B.swift", "import High\npackage import High\n")]
        #expect(FolderRules.circles(self.files(imports), known: [:]).isEmpty)
    }

    @Test func `arrows in one direction pass`() {
        #expect(FolderRules.circles(self.files(), known: [:]).isEmpty)
        // Another target's folders of the same names are others.
        let other = [("Sources/B/Low/A.swift", "let high: High\n"), ("Tests/A/Low/A.swift", "let high: High\n")]
        #expect(FolderRules.circles(self.files(other), known: [:]).isEmpty)
    }

    @Test func `a circle is caught, with what makes it one`() {
        let found = FolderRules.circles(self.files([("Sources/A/Low/B.swift", "let high: High\n")]), known: [:])
        #expect(found.map(\.path) == ["Sources/A/High", "Sources/A/Low"])
        #expect(found.last?.sentence == "depends in a circle; it uses High (High in B.swift)")
    }

    @Test func `files beside the folders are a folder, too`() {
        let root = [("Sources/A/Top.swift", "struct Top { let high: High }\n")]
        #expect(FolderRules.circles(self.files(root), known: [:]).isEmpty)
        let circle = FolderRules.circles(self.files(root + [("Sources/A/Low/B.swift", "let top: Top\n")]), known: [:])
        #expect(circle.map(\.path) == ["Sources/A/.", "Sources/A/High", "Sources/A/Low"])
    }

    @Test func `known circles pass, and leave the list once they are mended`() {
        let known: [String: Set<String>] = ["A": ["High", "Low"]]
        let circle = self.files([("Sources/A/Low/B.swift", "let high: High\n")])
        #expect(FolderRules.circles(circle, known: known).isEmpty)
        #expect(FolderRules.circles(self.files(), known: known).count == 2)
    }
}
