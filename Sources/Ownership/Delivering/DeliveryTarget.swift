package import WidgetModel

/// An app's upstream or webhook.
package struct DeliveryTarget: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case upstream, webhook
    }

    package let kind: Kind
    package let app: BundleID

    package init(kind: Kind, app: BundleID) {
        self.kind = kind
        self.app = app
    }
}

/// The unit of holds and health.
package enum Destination: Hashable, Sendable {
    /// One place with one team's credentials, which several of its apps may share.
    case upstream(Int)
    case webhook(BundleID)
}
