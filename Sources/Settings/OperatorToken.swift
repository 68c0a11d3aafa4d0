/// An operator's rights: each scope includes those before it.
package enum OperatorScope: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Ask.
    case read
    /// Give orders.
    case write
    /// Change how the gateway runs, and see the audit.
    case admin

    package static func < (left: OperatorScope, right: OperatorScope) -> Bool {
        func rank(_ scope: OperatorScope) -> Int { scope == .read ? 0 : scope == .write ? 1 : 2 }
        return rank(left) < rank(right)
    }
}

/// A caller of the operators' routes, and its scope.
package struct OperatorCaller: Hashable, Sendable {
    /// For the audit log.
    package let name: String
    package let scope: OperatorScope

    package init(name: String, scope: OperatorScope) {
        self.name = name
        self.scope = scope
    }
}

/// One access token as it is written: the token, then its scope, then a name for the audit log, with spaces between; the
/// latter two may be missing.
package struct OperatorToken: Hashable, Sendable {
    package let token: String
    package let caller: OperatorCaller

    /// - Parameters:
    ///   - text: The line.
    ///   - number: Its number from 1, for the name of one that has none.
    /// - Returns: Nil if the scope is none, or too much is written.
    package init?(_ text: String, number: Int) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let token = parts.first, parts.count <= 3 else { return nil }
        var scope = OperatorScope.admin
        if parts.count > 1 {
            guard let named = OperatorScope(rawValue: String(parts[1])) else { return nil }
            scope = named
        }
        self.token = String(token)
        self.caller = OperatorCaller(name: parts.count > 2 ? String(parts[2]) : "token \(number)", scope: scope)
    }
}
