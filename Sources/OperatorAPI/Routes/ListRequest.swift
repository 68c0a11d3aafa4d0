import Partitions
import Serving

/// The parameters of every list: `limit` and `cursor`.
struct ListRequest: Sendable {
    static let limitMax = 1000
    static let limitDefault = 100

    let limit: Int
    /// The numbers of the cursor, nil for the list's beginning.
    let cursor: [UInt64]?

    /// - Parameter bounds: Each number of this list's cursors is less than its bound.
    init(_ call: OperatorCall, below bounds: [UInt64]) throws(Problem) {
        self.limit = try call.int("limit", in: 1...Self.limitMax) ?? Self.limitDefault
        self.cursor = try call.cursor("cursor", below: bounds)
    }

    /// More than were ever counted: no decision and no push has such a number.
    static let countEnd: UInt64 = 1 << 62
}
