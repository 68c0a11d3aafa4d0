/// The operators of match patterns, by the names they have in EventBridge and SNS filter policies.
package enum MatchOperator: String, Hashable, Sendable, CaseIterable {
    case prefix = "prefix"
    case suffix = "suffix"
    case equalsIgnoreCase = "equals-ignore-case"
    case wildcard = "wildcard"
    case anythingBut = "anything-but"
    case numeric = "numeric"
    case exists = "exists"

    /// All names, for messages.
    static var phrase: String { self.allCases.map(\.rawValue).joined(separator: ", ") }
}
