package import Journaling
import Testing
import WidgetModel

/// One log, the journal that has it open, and the means to open it again.
package protocol JournalBench: AnyObject {
    var journal: any Journal { get }
    /// Nil where it keeps none that can be asked for.
    var snapshots: (any SnapshotStore)? { get }
    /// Closes the journal and opens the same log again.
    func reopen() throws
}

/// The rules of every journal, which tests run a journal through.
///
/// A rule says nothing of a clock, of the packing of waiting submissions, and of a store's failures: those are each
/// journal's own.
package struct JournalContract: Sendable, CustomTestStringConvertible {
    /// Makes a new log with so many partitions.
    package typealias Maker = (_ partitions: Int, JournalLimits) throws -> any JournalBench

    package let name: String
    private let body: @Sendable (Maker) throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Maker) throws -> Void) {
        self.name = name
        self.body = body
    }

    package var testDescription: String { self.name }

    /// Checks the rule on new logs.
    package func check(_ make: Maker) throws { try self.body(make) }

    /// Rules of ``Journal`` and of its ``LogHistory``.
    package static let journal = Self.appends + Self.outputs + Self.life
}
