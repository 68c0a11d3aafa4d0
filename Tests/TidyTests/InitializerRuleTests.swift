import Testing

/// The rule about initialisers catches a planted one and lets its neighbours pass.
@Suite struct InitializerRuleTests {
    private static func source(_ count: Int, _ body: String) -> SwiftText {
        let list = (0..<count).map { "        p\($0): [String: Int] = [:]" }.joined(separator: ",\n")
        return SwiftText("struct A {\n    package init(\n\(list)\n    ) {\n        \(body)\n    }\n}\n")
    }

    @Test func `parameters are counted, those of their types are not`() {
        let found = InitializerRules.initializers(in: Self.source(3, "self.a = p0"))
        #expect(found == [.init(line: 2, parameters: 3, isMemberwise: false)])
        let other = SwiftText("init(_ a: (b: Int) -> Int = { c in c }, d: Int) { self.d = d }\nlet e = A.init(f: 1)\n")
        #expect(InitializerRules.initializers(in: other) == [.init(line: 1, parameters: 2, isMemberwise: true)])
    }

    @Test func `one parameter too many is caught`() {
        let max = InitializerRules.parametersMax
        #expect(InitializerRules.violations("Sources/A/A.swift", Self.source(max, "self.a = 1"), known: []).isEmpty)
        let found = InitializerRules.violations("Sources/A/A.swift", Self.source(max + 1, "self.a = 1"), known: [])
        #expect(found.map(\.line) == [2])
        #expect(InitializerRules.violations("Tests/A/A.swift", Self.source(max + 1, "self.a = 1"), known: []).isEmpty)
    }

    @Test func `a list of members may be as long as it is`() {
        let body = (0..<12).map { "self.p\($0) = p\($0)" }.joined(separator: "\n        ")
        #expect(InitializerRules.violations("Sources/A/A.swift", Self.source(12, body), known: []).isEmpty)
    }

    @Test func `what is known passes, and leaves the list once it is mended`() {
        let path = "Sources/A/A.swift"
        #expect(InitializerRules.violations(path, Self.source(12, "self.a = 1"), known: [path]).isEmpty)
        #expect(InitializerRules.violations(path, Self.source(2, "self.a = 1"), known: [path]).map(\.line) == [0])
    }
}
