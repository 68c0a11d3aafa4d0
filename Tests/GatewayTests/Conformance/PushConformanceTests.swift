import APNSWire
import Testing

/// The rows of the tables: requests and provider tokens with what Apple documents of them.
enum PushTables {
    static let requests: [PushRequestCase] =
        PushRequestCase.heads + PushRequestCase.tolerated + PushRequestCase.ids + PushRequestCase.tokens
        + PushRequestCase.topics + PushRequestCase.types + PushRequestCase.relayedTypes + PushRequestCase.priorities
        + PushRequestCase.expirations + PushRequestCase.collapseIDs + PushRequestCase.bodies + PushRequestCase.targeted
        + PushRequestCase.certificates + PushRequestCase.actions + PushRequestCase.orders
    static let tokens: [PushTokenCase] = PushTokenCase.dialects + PushTokenCase.forms + PushTokenCase.keys
    static let sequences: [PushTokenSequence] =
        PushTokenSequence.bindings + PushTokenSequence.renewals + PushTokenSequence.memories
}

/// Every row, against the judge.
@Suite struct PushConformanceTests {
    @Test func `there are enough rows, and each has a name of its own`() {
        #expect(PushTables.requests.count >= 200)
        #expect(PushTables.tokens.count + PushTables.sequences.count >= 100)
        #expect(Set(PushTables.tokens.map(\.name)).count == PushTables.tokens.count)
        #expect(Set(PushTables.sequences.map(\.name)).count == PushTables.sequences.count)
    }

    @Test(arguments: PushTables.requests)
    func `a request is answered as its row says`(row: PushRequestCase) throws {
        let verdict = row.verdict(in: try PushWorld())
        #expect(verdict == row.expected(verdict.detail))
    }

    @Test(arguments: PushTables.tokens)
    func `a provider token is answered as its row says`(row: PushTokenCase) throws {
        #expect(row.verdict(in: try PushWorld()) == row.expected)
    }

    @Test(arguments: PushTables.sequences)
    func `a connection remembers as its row says`(row: PushTokenSequence) throws {
        #expect(try row.outcome() == row.expected)
    }
}
