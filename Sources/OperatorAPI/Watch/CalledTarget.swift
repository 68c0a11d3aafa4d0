package import Ownership
package import Serving
package import WidgetModel

/// A service that the gateway calls, and how it does.
package struct CalledTarget: Sendable {
    /// Which one it is.
    package enum Part: Hashable, Sendable {
        case upstream(BundleID)
        case webhook(BundleID)
        case receipts(BundleID)
        case provider(KindKey)

        /// As sentences begin with it.
        package var name: String {
            switch self {
            case .upstream(let app): "The upstream of \(app)"
            case .webhook(let app): "The webhook of \(app)"
            case .receipts(let app): "The receiver of receipts of \(app)"
            case .provider(let key): "The timeline provider of \(key.kind) of \(key.app)"
            }
        }
    }

    package let part: Part
    package let health: TargetHealth
    /// Whether it gets nothing for a while, since it asked for that or has failed.
    package let isHeld: Bool

    package init(_ part: Part, _ health: TargetHealth, isHeld: Bool) {
        self.part = part
        self.health = health
        self.isHeld = isHeld
    }
}
