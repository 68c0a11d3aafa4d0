/// The rules that are in force: all of them.
///
/// A program knows no other value: in a release build the struct is empty, and asking it compiles to the condition alone.
/// A debug build can leave one rule out. That is how tests switch off each rule in turn and see whether their tables of
/// requests and tokens notice.
package struct PushRules: Hashable, Sendable {
    #if DEBUG
    @usableFromInline let omitted: PushRule?

    /// All rules but one.
    @inlinable
    package init(without omitted: PushRule? = nil) {
        self.omitted = omitted
    }
    #else
    @inlinable
    package init() {}
    #endif

    @inlinable package static var all: PushRules { PushRules() }

    /// Whether a request may pass a rule: the rule is kept, or is not in force.
    @inlinable
    @inline(__always)
    package func met(_ rule: PushRule, _ isKept: Bool) -> Bool {
        #if DEBUG
        isKept || rule == self.omitted
        #else
        isKept
        #endif
    }

    /// Whether a rule is not in force.
    @inlinable
    @inline(__always)
    package func omits(_ rule: PushRule) -> Bool { self.met(rule, false) }
}
