package import WidgetModel

/// Where a record is in a partition's log.
package struct RecordPlace: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.position, \.index)
    /// The entry that it is in.
    package let position: LogPosition
    /// Its place in that entry.
    package let index: Int

    package init(position: LogPosition, index: Int) { (self.position, self.index) = (position, index) }
}
