import Engine
import IntentMatching
package import Settings
import WidgetModel

extension ServedApps {
    package init(_ configuration: GatewayConfiguration, work: WorkAdmission? = nil) {
        self.init(configuration, AppNumbers(configuration), work: work)
    }

    /// - Parameters:
    ///   - numbers: Has all of the configuration's apps.
    ///   - before: The apps that were served until now: apps with numbers that the configuration does not have any more
    ///     are among them.
    ///   - work: Has the undecided work of each team.
    package init(
        _ configuration: GatewayConfiguration,
        _ numbers: AppNumbers,
        before: ServedApps? = nil,
        work: WorkAdmission? = nil
    ) {
        let names = Set(configuration.apps.map(\.bundleID))
        self.init(
            configuration.apps.map { app in
                App(
                    number: numbers[app.bundleID],
                    bundle: app.bundleID,
                    acceptsUnknownTokens: app.unknownTokens == .accept,
                    matchedMax: app.matchedMax,
                    schemas: app.schemas,
                    samples: app.kinds.reduce(into: [:]) { $0[$1.schema.kind] = $1.sample },
                    isInDevelopment: app.environment == .development,
                    meter: RateMeter.of(
                        (app.rateLimit ?? configuration.rateLimits.perApp)?.limit,
                        before: before?[app.bundleID]?.meter
                    ),
                    broadcastExpiration: app.hasChannels
                        ? min(app.defaultExpiration, ServedApps.broadcastStorageMax) : nil,
                    deliveries: [.stream] + (app.upstream == nil ? [] : [.apns])
                        + (app.webhook == nil ? [] : [.webhook]),
                    pushedKinds: before?[app.bundleID]?.pushedKinds ?? PushedKinds(),
                    pushMax: app.pushMax,
                    work: work?.work(of: app.team)
                )
            },
            gone: numbers.apps.enumerated().filter { !names.contains($0.element) }.compactMap {
                before?[number: $0.offset]
            }
        )
    }
}
