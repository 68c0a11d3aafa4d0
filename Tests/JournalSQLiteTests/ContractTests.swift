import JournalContract
import JournalSQLite
import Journaling
import Testing
import WidgetModel

/// The journals of one machine keep to what every journal must do.
@Suite struct ContractTests {
    /// Small files, so that some of the log can go.
    private static func make(_ store: Store) -> JournalContract.Maker {
        { partitions, limits in
            try Harness(store, partitions: partitions, limits: limits, fileBytesMax: 20_000, cacheBytesMax: 4_000)
        }
    }

    @Test(arguments: Store.allCases, JournalContract.journal)
    func `a journal keeps to the contract`(store: Store, rule: JournalContract) throws {
        try rule.check(Self.make(store))
    }

    @Test(arguments: Store.allCases, JournalContract.snapshots)
    func `a store of snapshots keeps to the contract`(store: Store, rule: JournalContract) throws {
        try rule.check(Self.make(store))
    }

    /// That in memory lets nothing go.
    @Test(arguments: JournalContract.trimming)
    func `a log is trimmed as the contract says`(rule: JournalContract) throws {
        try rule.check(Self.make(.sqlite))
    }
}
