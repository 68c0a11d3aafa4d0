import Engine
package import Settings
package import WidgetModel

/// How many hosts and instances apps and teams may have.
package struct RegistryLimits: Hashable, Sendable {
    /// A number, and the key that sets it.
    package struct Limit: Hashable, Sendable {
        package let max: Int
        package let setting: String
    }

    /// The limits of an app or a team; nil for none.
    package struct Limits: Hashable, Sendable {
        package var hosts: Limit?
        package var instances: Limit?
    }

    /// The owner of limits.
    package enum Owner: Hashable, Sendable {
        case app(BundleID)
        case team(TeamID)
    }

    /// The team that serves each app.
    private var teams: [BundleID: TeamID] = [:]
    private var limits: [Owner: Limits] = [:]

    /// No apps, and no limits.
    package init() {}

    package init(_ configuration: GatewayConfiguration) {
        func limit(_ own: Int?, _ ownKey: String, _ common: Int?, _ commonKey: String) -> Limit? {
            own.map { Limit(max: $0, setting: ownKey) } ?? common.map { Limit(max: $0, setting: commonKey) }
        }
        let (hosts, instances) = (configuration.limits.hosts, configuration.limits.instances)
        for app in configuration.apps {
            self.teams[app.bundleID] = app.team
            self.limits[.app(app.bundleID)] = Limits(
                hosts: limit(app.hostsMax, "apps[].maxHosts", hosts.perApp, "limits.hosts.perApp"),
                instances: limit(
                    app.instancesMax,
                    "apps[].maxInstances",
                    instances.perApp,
                    "limits.instances.perApp"
                )
            )
        }
        for team in configuration.teams {
            self.limits[.team(team.id)] = Limits(
                hosts: limit(team.hostsMax, "teams[].maxHosts", hosts.perTeam, "limits.hosts.perTeam"),
                instances: limit(
                    team.instancesMax,
                    "teams[].maxInstances",
                    instances.perTeam,
                    "limits.instances.perTeam"
                )
            )
        }
    }

    package subscript(owner: Owner) -> Limits { self.limits[owner] ?? Limits() }

    /// Whether there is any.
    var isAny: Bool { self.limits.values.contains { $0 != Limits() } }

    /// The team that serves an app; nil for an app that is not served.
    package func team(of app: BundleID) -> TeamID? { self.teams[app] }
}

/// Why a registration is not taken that would add to the registry.
package enum RegistryError: Error, Hashable, Sendable {
    /// The things whose number is limited.
    package enum Counted: String, Hashable, Sendable {
        case hosts, instances
    }

    /// `adding` more than the `count` that there are, those on their way included.
    case tooMany(Counted, adding: Int, count: Int, RegistryLimits.Owner, RegistryLimits.Limit)
    /// All memory that may be taken is; of it about so many bytes by the team's apps.
    case memoryFull(team: TeamID?, bytes: Int, limit: Int)
}

extension RegistryLimits {
    /// Why so much may not be added; nil if it may.
    ///
    /// - Parameters:
    ///   - added: The hosts and instances that would be added.
    ///   - app: Their app.
    ///   - usage: The usage of an app or a team, with the reserved one.
    func refusal(
        of added: RegistryAdditions,
        for app: BundleID,
        _ usage: (Owner) -> RegistryUsage
    ) -> RegistryError? {
        let owners = [Owner.app(app)] + (self.team(of: app).map { [.team($0)] } ?? [])
        for owner in owners {
            let limits = self[owner]
            // Nothing is added up for a limit that there is not.
            guard limits != Limits() else { continue }
            let usage = usage(owner)
            let pairs = [
                (RegistryError.Counted.hosts, added.hosts, usage.hosts, limits.hosts),
                (.instances, added.instances, usage.instances, limits.instances),
            ]
            for (counted, adding, count, limit) in pairs {
                guard let limit, adding > 0, count + adding > limit.max else { continue }
                return .tooMany(counted, adding: adding, count: count, owner, limit)
            }
        }
        return nil
    }
}
