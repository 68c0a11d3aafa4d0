import Testing
import WidgetModel

@Suite struct NamedCaseTests {
    private func expectNames<Case: NamedCase>(_ cases: Case.Type) {
        for one in Case.allCases {
            #expect(one.name == "\(one)")
            #expect(Case(name: one.name) == one)
        }
        #expect(Case(name: "") == nil)
        #expect(Case(name: "unknown") == nil)
    }

    @Test func `a case has the name that its declaration gives it, and is found by that alone`() {
        self.expectNames(WidgetFamily.self)
        self.expectNames(PushType.self)
        self.expectNames(ReloadCause.self)
        self.expectNames(Exemption.self)
        self.expectNames(PushOutcome.self)
        #expect(WidgetFamily(name: "accessoryInline") == .accessoryInline)
        #expect(WidgetFamily(name: "AccessoryInline") == nil)
    }
}
