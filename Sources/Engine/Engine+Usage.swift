import IntentMatching
import WidgetModel

/// Each app's part of the registry.
extension Engine {
    /// Each app's part of the registry, in the order of the apps' numbers. O(apps).
    package var appUsages: [AppUsage] {
        self.catalogue.apps.enumerated().map { number, app in
            AppUsage(
                app: app.id,
                team: TeamID(self.catalogue.teamName(app.team)),
                self.registry[usage: AppNumber(number)]
            )
        }
    }

    /// Changes whenever ``appUsages`` does.
    package var usageVersion: UInt64 { self.registry.usageVersion }

    /// The hosts and instances that a registration would add to this partition's registry now; nil if it would be
    /// refused.
    ///
    /// A host that loses its last token to it does not count.
    package func additions(of registration: HostRegistration) -> RegistryAdditions? {
        guard self.refusal(of: registration) == nil else { return nil }
        guard let host = self.registry.findHost(registration.host), self.registry[host].isRegistered else {
            let count = registration.instances.count
            return RegistryAdditions(hosts: 1, instances: count, newInstances: count)
        }
        let live = Set(
            self.registry.liveInstances(of: host).map { self.registry.id(of: $0) }
        )
        return RegistryAdditions(
            instances: registration.instances.count - live.count,
            newInstances: registration.instances.count { !live.contains($0.id) }
        )
    }

    // MARK: Counting

    /// Counts a host that is registered from now on, or that is no more.
    mutating func count(host: HostNumber, isRegistered: Bool) {
        let sign = isRegistered ? 1 : -1
        self.counters.hosts += sign
        let bytes = self.registry.keyByteCount(of: host)
        self.registry[usage: self.registry[host].app].hosts += sign
        self.registry[usage: self.registry[host].app].textBytes += sign * bytes
    }

    /// Counts an instance into its app's part, or out of it with -1: out before a change of its state or texts, and in afterwards.
    mutating func count(_ instance: InstanceNumber, _ sign: Int) {
        let app = self.app(of: instance)
        if self.registry[instance].isLive {
            self.registry[usage: app].instances += sign
        } else {
            self.registry[usage: app].tombstones += sign
        }
        self.registry[usage: app].textBytes += sign * self.registry.textBytes(of: instance)
    }

    /// The app whose an instance is.
    func app(of instance: InstanceNumber) -> AppNumber { self.catalogue[self.registry[instance].kind].app }

    /// Each app's usage, counted one by one: the running counts have to be equal. O(instances).
    func countedUsages() -> UsageTable {
        var usages = UsageTable()
        for host in self.registry.usedHosts() where self.registry[host].isRegistered {
            usages[self.registry[host].app].hosts += 1
            usages[self.registry[host].app].textBytes += self.registry.keyByteCount(of: host)
        }
        for instance in self.registry.usedInstances() {
            let app = self.app(of: instance)
            if self.registry[instance].isLive { usages[app].instances += 1 } else { usages[app].tombstones += 1 }
            usages[app].textBytes += self.registry.textBytes(of: instance)
        }
        return usages
    }
}
