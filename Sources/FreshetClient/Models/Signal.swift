public import Foundation

/// An event on a host.
public struct Signal: Sendable, Hashable, Encodable {
    private let signal: String
    private var reload: String?
    private var instance: String?
    private var date: Date?
    private var state: String?
    private var reason: String?

    private init(_ signal: String) {
        self.signal = signal
    }

    private func with(reload: String) -> Signal {
        var signal = self
        signal.reload = reload
        return signal
    }

    private func with(instance: String) -> Signal {
        var signal = self
        signal.instance = instance
        return signal
    }

    private func with(state: String) -> Signal {
        var signal = self
        signal.state = state
        return signal
    }

    /// The host has made a reload of the gateway: acknowledges the reload.
    public static func reloaded(_ reload: String) -> Signal { Signal("reloaded").with(reload: reload) }

    /// The host will not reload: acknowledges the reload, and the gateway gives the charge back.
    ///
    /// - Parameter reason: Why, at most 256 bytes.
    public static func refused(_ reload: String, reason: String? = nil) -> Signal {
        var signal = Signal("refused").with(reload: reload)
        signal.reason = reason
        return signal
    }

    /// A widget shows the reload's entry of that date: acknowledges the reload.
    public static func entryShown(_ reload: String, date: Date) -> Signal {
        var signal = Signal("entryShown").with(reload: reload)
        signal.date = date
        return signal
    }

    /// A widget has reloaded by itself: booked on its budget.
    public static func reloadedByItself(instance: String) -> Signal { Signal("reloaded").with(instance: instance) }

    /// The app is in the foreground: reloads are not charged until it leaves, for an hour at most.
    public static let appForeground = Signal("appForeground")
    /// The app is no longer in the foreground.
    public static let appBackground = Signal("appBackground")

    /// A session during which reloads are not charged, for an hour at most.
    public enum Session: String, Sendable, Hashable {
        /// Media plays.
        case media = "mediaSession"
        /// The app navigates.
        case navigation = "navigationSession"
        /// The app uses the location.
        case location = "locationSession"
    }

    /// A session has begun.
    public static func start(_ session: Session) -> Signal { Signal(session.rawValue).with(state: "start") }
    /// A session has ended.
    public static func end(_ session: Session) -> Signal { Signal(session.rawValue).with(state: "end") }

    /// A person sees a widget. A widget that is often seen may reload more often.
    public static func widgetVisible(_ instance: String) -> Signal { Signal("widgetVisible").with(instance: instance) }
    /// The person no longer sees the widget.
    public static func widgetHidden(_ instance: String) -> Signal { Signal("widgetHidden").with(instance: instance) }
    /// A person tapped a widget: it reloads, not charged.
    public static func appIntent(_ instance: String) -> Signal { Signal("appIntent").with(instance: instance) }
    /// A widget is animated. Counted only.
    public static func animation(_ instance: String) -> Signal { Signal("animation").with(instance: instance) }

    /// The language has changed: every widget reloads, not charged.
    public static let localeChanged = Signal("localeChanged")
    /// The size of texts has changed: every widget reloads, not charged.
    public static let dynamicTypeChanged = Signal("dynamicTypeChanged")
    /// An accessibility setting has changed: every widget reloads, not charged.
    public static let accessibilityChanged = Signal("accessibilityChanged")
    /// The appearance has changed: every widget reloads, not charged.
    public static let appearanceChanged = Signal("appearanceChanged")
    /// The host has moved: widgets of kinds that use the location reload when they are next seen, not charged.
    public static let significantLocationChange = Signal("significantLocationChange")

    /// Whether the host is in StandBy: its own reloads meanwhile are not booked.
    public static func standBy(_ isOn: Bool) -> Signal { Signal("standBy").with(state: isOn ? "on" : "off") }
    /// Whether the host is in low power: its timelines reload less often if the budget policy says so.
    public static func lowPower(_ isOn: Bool) -> Signal { Signal("lowPower").with(state: isOn ? "on" : "off") }
}
