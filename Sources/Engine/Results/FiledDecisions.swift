package import WidgetModel

/// Decisions with all that a file keeps of them.
package struct FiledDecisions: Hashable, Sendable {
    /// The number of the first, greater than the one that was wanted if that is not kept any more; the others have the numbers
    /// behind it.
    package let first: UInt64
    /// How many the engine has ever made: the number of the next.
    package let count: UInt64
    /// The instances that the decisions are about, each once.
    package var instances: [InstanceAddress] = []
    package var rows: [FiledDecision] = []
}

/// A decision with all that a file keeps of it.
package struct FiledDecision: Hashable, Sendable {
    /// The instance, by its place in ``FiledDecisions/instances``; nil if it was removed before this question.
    package let instance: Int?
    /// The number of the instance's decision before; nil if there is none.
    package let previous: UInt64?
    package let decision: DecisionView

    package init(instance: Int?, previous: UInt64?, decision: DecisionView) {
        self.instance = instance
        self.previous = previous
        self.decision = decision
    }
}
