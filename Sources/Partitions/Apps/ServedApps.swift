package import Engine
package import IntentMatching
package import WidgetModel

/// The apps this gateway serves, as every event loop sees them.
package struct ServedApps: Sendable {
    /// For how long APNs stores the most recent message of a channel at most.
    package static let broadcastStorageMax = Interval.hours(8)

    /// One app. A class, since every push takes hold of one: a struct would be copied member by member.
    package final class App: Sendable {
        /// Its place in ``ServedApps/apps`` and its number in topic tables.
        package let number: Int
        package let bundle: BundleID
        /// Whether a push to a token that no host registered is accepted and matches nothing.
        package let acceptsUnknownTokens: Bool
        /// The most instances that a targeted push may match, nil for any number.
        package let matchedMax: Int?
        package let schemas: [KindSchema]
        /// A gallery's sample of a kind, for those kinds that have one.
        package let samples: [WidgetKind: JSONValue]
        /// Whether a 200 carries `apns-unique-id`, as in APNs' development environment.
        package let isInDevelopment: Bool
        /// How fast pushes to it may come, nil for as fast as they like.
        package let meter: RateMeter?
        /// How long a broadcast without an expiration may wait, nil if the app has no channels.
        package let broadcastExpiration: Interval?
        /// How reloads may reach its hosts.
        package let deliveries: [HostDelivery]
        /// The same object in all copies.
        package let pushedKinds: PushedKinds
        /// The most work of one push; nil for the setting of all apps.
        package let pushMax: Interval?
        /// The undecided work of its team; nil where teams are not told apart. The same object in all copies.
        package let work: TeamWork?

        package init(
            number: Int,
            bundle: BundleID,
            acceptsUnknownTokens: Bool,
            matchedMax: Int?,
            schemas: [KindSchema],
            samples: [WidgetKind: JSONValue] = [:],
            isInDevelopment: Bool = false,
            meter: RateMeter? = nil,
            broadcastExpiration: Interval? = .hours(4),
            deliveries: [HostDelivery] = [.stream],
            pushedKinds: PushedKinds = PushedKinds(),
            pushMax: Interval? = nil,
            work: TeamWork? = nil
        ) {
            self.number = number
            self.bundle = bundle
            self.acceptsUnknownTokens = acceptsUnknownTokens
            self.matchedMax = matchedMax
            self.schemas = schemas
            self.samples = samples
            self.isInDevelopment = isInDevelopment
            self.meter = meter
            self.broadcastExpiration = broadcastExpiration
            self.deliveries = deliveries
            self.pushedKinds = pushedKinds
            self.pushMax = pushMax
            self.work = work
        }

        /// The same app in an object of its own.
        convenience init(copying app: App) {
            self.init(
                number: app.number,
                bundle: app.bundle,
                acceptsUnknownTokens: app.acceptsUnknownTokens,
                matchedMax: app.matchedMax,
                schemas: app.schemas,
                samples: app.samples,
                isInDevelopment: app.isInDevelopment,
                meter: app.meter,
                broadcastExpiration: app.broadcastExpiration,
                deliveries: app.deliveries,
                pushedKinds: app.pushedKinds,
                pushMax: app.pushMax,
                work: app.work
            )
        }

        /// The schema of a kind, or nil if the app has none of that name.
        package func schema(of kind: WidgetKind) -> KindSchema? {
            self.schemas.first { $0.kind == kind }
        }
    }

    /// In the order of the configuration.
    package let apps: [App]
    /// By number; with those that are served no more, for pushes that were judged before.
    private let numbered: [App]
    private let byBundle: [BundleID: Int]

    /// - Parameters:
    ///   - apps: Numbered from 0 without a gap, together with the others.
    ///   - gone: Apps that have been served and have their numbers still.
    package init(_ apps: [App], gone: [App] = []) {
        self.apps = apps
        self.numbered = (apps + gone).sorted { $0.number < $1.number }
        self.byBundle = Dictionary(uniqueKeysWithValues: apps.map { ($0.bundle, $0.number) })
    }

    /// The app of a number that topic tables gave.
    package subscript(number number: Int) -> App { self.numbered[number] }

    /// The same apps in objects of their own, for one event loop: where several count references to one object, its
    /// count goes from processor to processor with each push.
    package func copy() -> ServedApps {
        ServedApps(
            self.apps.map { App(copying: $0) },
            gone: self.numbered.filter { self[$0.bundle] == nil }.map { App(copying: $0) }
        )
    }

    /// Some of the apps, with the numbers that they have among all.
    package func filter(_ isIncluded: (App) -> Bool) -> ServedApps {
        let kept = self.apps.filter(isIncluded)
        let numbers = Set(kept.map(\.number))
        return ServedApps(kept, gone: self.numbered.filter { !numbers.contains($0.number) })
    }

    package subscript(bundle: BundleID) -> App? {
        self.byBundle[bundle].map { self.numbered[$0] }
    }
}
