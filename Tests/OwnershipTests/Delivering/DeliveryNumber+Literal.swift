import Ownership

extension DeliveryNumber: ExpressibleByIntegerLiteral {
    /// The delivery of that number.
    public init(integerLiteral value: UInt64) { self.init(value) }
}
