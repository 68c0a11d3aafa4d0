import WidgetModel

extension BudgetPolicy {
    /// WidgetKit's budget, the default.
    ///
    /// Apple: a window of 24 hours per configured widget, "typically 40 to 70" for one that is viewed frequently, one
    /// every 15 to 60 minutes. The allowance for a rarely viewed one, the burst and the minimum interval are ours:
    /// Apple says that they exist, but no number; 5 minutes is its advice for the distance of entries.
    package static let widgetkit: BudgetPolicy = {
        var policy = BudgetPolicy(
            name: "widgetkit",
            source: "https://developer.apple.com/documentation/widgetkit/keeping-a-widget-up-to-date",
            date: "2026-11-21",
            rare: 10,
            typical: 40,
            frequent: 70
        )
        policy.window = .tuned
        policy.thinning = 4
        return policy
    }()

    /// No budget: a host of one's own, or a platform that has none.
    package static let unlimited: BudgetPolicy = {
        var policy = BudgetPolicy(
            name: "unlimited",
            source: "freshet",
            date: "2026-11-21",
            rare: 0,
            typical: 0,
            frequent: 0
        )
        policy.window = .none
        policy.minimumInterval = .zero
        policy.exemptInterval = .zero
        policy.pushShare = Share(1, of: 1)
        return policy
    }()

    /// Huawei form updates by push: two per card, device and day for a listed app; the excess is dropped there and
    /// counts again "the next day". (Another page of Huawei's gives 5 to 200 by category: make a policy of one's own.)
    package static let huaweiForm: BudgetPolicy = {
        var policy = BudgetPolicy.told(
            "huawei-form",
            source: "https://developer.huawei.com/consumer/cn/doc/harmonyos-guides/push-form-update",
            date: "2026-04-28",
            allowance: 2
        )
        policy.window = .fixed(length: .day, anchor: .utc)
        return policy
    }()

    /// TRMNL's webhooks: 12 posts an hour to one private plugin (30 for a paying user), then 429.
    package static let trmnl: BudgetPolicy = {
        var policy = BudgetPolicy.told(
            "trmnl",
            source: "https://docs.trmnl.com/go/private-plugins/webhooks",
            date: "2026-11-21",
            allowance: 12
        )
        policy.window = .fixed(length: .hours(1), anchor: .hostHash)
        return policy
    }()

    /// Home Assistant's push relay: 500 a day and device, from midnight UTC; errors are not charged.
    package static let homeAssistant: BudgetPolicy = {
        var policy = BudgetPolicy.told(
            "home-assistant",
            source:
                "https://github.com/home-assistant/companion.home-assistant/blob/master/docs/notifications/details.md",
            date: "2026-11-21",
            allowance: 500
        )
        policy.window = .fixed(length: .day, anchor: .utc)
        policy.scope = .host
        return policy
    }()

    /// FCM's collapsible messages: a burst of 20 per app and device, refilled by one every 3 minutes.
    ///
    /// With B = 499 / 26 = 19 the twentieth at once is the last, and T = 24 h / 480 = 3 min.
    package static let fcmCollapsible: BudgetPolicy = {
        var policy = BudgetPolicy.told(
            "fcm-collapsible",
            source: "https://firebase.google.com/docs/cloud-messaging/throttling-and-quotas",
            date: "2026-11-21",
            allowance: 499
        )
        policy.burstDivisor = 26
        policy.scope = .host
        return policy
    }()

    /// A service's limit of messages: every widget has one number of them, and may use them at any distance.
    private static func told(_ name: String, source: String, date: String, allowance: Int) -> BudgetPolicy {
        var policy = BudgetPolicy(
            name: name,
            source: source,
            date: date,
            rare: allowance,
            typical: allowance,
            frequent: allowance
        )
        policy.minimumInterval = .zero
        policy.pushShare = Share(1, of: 1)
        policy.learning = Learning(factor: Share(1, of: 1), days: 0)
        return policy
    }

    /// All presets, the default first.
    package static let presets: [BudgetPolicy] = [
        .widgetkit, .huaweiForm, .trmnl, .homeAssistant, .fcmCollapsible, .unlimited,
    ]

    /// The preset of a name as it stands in a configuration file, or nil.
    package static func preset(named name: String) -> BudgetPolicy? {
        self.presets.first { $0.name == name }
    }
}
