package import WidgetModel

/// The data of a reload that leaves as a push to a token, in addition to its effect.
package struct OutgoingPush: Hashable, Sendable {
    /// The host's newest token, or the control's own.
    package let token: DeviceToken
    /// Whether the token is a control's.
    package let isControl: Bool
    /// The highest of the pushes that the reload serves; nil if it serves none.
    package let priority: Priority?
    /// That of the push that made the reload happen; nil if it has none.
    package let collapseID: CollapseID?
    package let expiresAt: Instant
    /// Whether the upstream may keep the push until then: false if none of its pushes may wait.
    package var mayWait: Bool
}
