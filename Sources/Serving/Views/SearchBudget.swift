import NIOCore

/// How long one request goes on searching: a list whose filter finds little is given in parts.
package struct SearchBudget {
    private static let stepsMax = 64
    private static let timeMax = TimeAmount.milliseconds(50)

    /// The text of a cursor: where a list goes on that was given in part.
    package static func cursor(_ numbers: [UInt64]) -> String { numbers.map { "\($0)" }.joined(separator: ".") }

    private let started = NIODeadline.now()
    private var steps = 0

    package init() {}

    /// Whether there is time for one step more.
    package mutating func takeStep() -> Bool {
        self.steps += 1
        return self.steps <= Self.stepsMax && NIODeadline.now() - self.started < Self.timeMax
    }
}
