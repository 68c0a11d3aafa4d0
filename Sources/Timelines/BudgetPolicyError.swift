/// A fault of a budget policy: the field and a sentence.
package struct BudgetPolicyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the field below the policy, as in `pushShare`.
    package let field: String
    package let message: String

    package var description: String { "\(self.field): \(self.message)" }
}
