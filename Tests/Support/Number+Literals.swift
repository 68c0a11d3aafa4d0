public import WidgetModel

/// Tests write the numbers of rows as they are.
extension Number: ExpressibleByIntegerLiteral {
    /// The number of the row that is written.
    public init(integerLiteral value: UInt32) { self.init(raw: value) }
}
