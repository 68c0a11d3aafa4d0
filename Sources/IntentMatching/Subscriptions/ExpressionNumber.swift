package import WidgetModel

extension NumberTag {
    /// A condition in a ``SubscriptionIndex``; equal ones are one.
    package enum Expression {}
}

/// The number of a condition in a ``SubscriptionIndex``.
package typealias ExpressionNumber = Number<NumberTag.Expression>
