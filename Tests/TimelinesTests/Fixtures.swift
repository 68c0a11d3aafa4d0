import Timelines
import WidgetModel

/// A Tuesday at noon, 2026-11-24T12:00:00Z.
let noon = Instant(seconds: 1_795_521_600)

/// The day window that contains ``noon`` and starts twelve hours before.
let today = BudgetWindow(start: noon - .hours(12), length: .day)

/// WidgetKit's terms of today: A 40, B 8, T 45 min, pushes 30.
let terms = BudgetTerms(policy: .widgetkit, window: today)

extension BudgetPolicy {
    /// WidgetKit's rules with another allowance.
    static func widgetkit(allowing allowance: Int) -> BudgetPolicy {
        var policy = BudgetPolicy.widgetkit
        policy.rare = allowance
        policy.typical = allowance
        policy.frequent = allowance
        return policy
    }
}

/// The bytes that a writer makes of a value.
func bytes(_ encode: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    encode(&writer)
    return writer.bytes
}
