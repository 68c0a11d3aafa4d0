#if DEBUG
import APNSWire
import Testing

/// Whether the tables are worth anything: each rule is switched off in turn, and some row has to notice.
///
/// Only a debug build can leave a rule out.
@Suite struct PushRuleMutationTests {
    /// A row that comes out otherwise where a rule is not in force, nil if there is none.
    private static func notice(_ rules: PushRules) throws -> String? {
        let world = try PushWorld(rules: rules)
        for row in PushTables.requests {
            let verdict = row.verdict(in: world)
            if verdict != row.expected(verdict.detail) { return row.name }
        }
        for row in PushTables.tokens where row.verdict(in: world) != row.expected { return row.name }
        for row in PushTables.sequences where try row.outcome(rules: rules) != row.expected { return row.name }
        return nil
    }

    @Test(arguments: PushRule.allCases)
    func `the tables notice a rule that is switched off`(rule: PushRule) throws {
        #expect(try Self.notice(PushRules(without: rule)) != nil, "no row notices that \(rule) is off")
    }

    @Test func `they notice nothing where every rule is in force`() throws {
        #expect(try Self.notice(.all) == nil)
    }
}
#endif
