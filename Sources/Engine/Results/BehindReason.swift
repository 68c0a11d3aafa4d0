package import WidgetModel

/// Why a widget does not yet show its newest data, as far as the engine knows: the obstacle of the next reload, or the
/// destination of the outstanding one. See docs/engine.md, "Behind".
package enum BehindReason: UInt8, Hashable, Sendable, CaseIterable {
    /// The pace of its budget, or its count.
    case budget = 0
    /// Too soon after another reload.
    case minimumInterval = 1
    /// The app, the kind or the sender is paused.
    case paused = 2
    /// The cause waits for another reload: priority 1, or a timeline's request within minutes.
    case anotherReload = 3
    /// Nothing but pushes reaches the host, and none reaches the widget.
    case unreachable = 4
    /// A reload is out to the host's event stream, or to the kind's timeline provider, and not acknowledged.
    case outToHost = 5
    /// A reload is out to the app's upstream, and not acknowledged.
    case outToUpstream = 6
    /// A reload is out to the app's webhook, and not acknowledged.
    case outToWebhook = 7

    /// Where a reload is that is out.
    @inline(__always)
    init(outBy delivery: HostDelivery) {
        self =
            switch delivery {
            case .stream: .outToHost
            case .apns: .outToUpstream
            case .webhook: .outToWebhook
            }
    }

    /// Whether a reload is out.
    package var isOut: Bool { self.rawValue >= Self.outToHost.rawValue }
}

extension DecisionReason {
    /// Why a widget is behind while its waiting causes wait for this reason; nil where it is not behind, because their time has not come or
    /// the widget is not seen.
    @inline(__always)
    var behind: BehindReason? {
        switch self {
        case .notBefore, .hidden, .lowPower: nil
        case .minimumInterval, .exemptInterval: .minimumInterval
        case .paused: .paused
        case .waitsForAnother, .joinsPolicy: .anotherReload
        case .notPushEnabled, .otherEnvironment: .unreachable
        default: .budget
        }
    }
}

/// How many widgets of a kind are behind, why, and for how long: to a minute, so that nothing walks over them.
package struct KindBehind: Hashable, Sendable {
    package let app: BundleID
    package let kind: WidgetKind
    /// Live instances.
    package let instances: Int
    /// By ``BehindReason``, in the order of raw values.
    package let counts: [Int]
    /// Of these, those that have been behind for longer than was asked, by whole minutes.
    package let late: Int
    /// Since when the oldest of them has been behind, at least: the end of the minute in which it fell behind; nil if
    /// none is. For one that has been behind for longer than 25 hours, it is that long ago.
    package let oldest: Instant?

    /// How many are behind.
    package var count: Int { self.counts.reduce(0, +) }

    package subscript(reason: BehindReason) -> Int { self.counts[Int(reason.rawValue)] }

    package init(app: BundleID, kind: WidgetKind, instances: Int, counts: [Int], late: Int, oldest: Instant?) {
        self.app = app
        self.kind = kind
        self.instances = instances
        self.counts = counts
        self.late = late
        self.oldest = oldest
    }
}
