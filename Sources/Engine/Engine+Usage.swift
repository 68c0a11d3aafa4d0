import IntentMatching
package import WidgetModel

/// Who has how much of the registry.
extension Engine {
    /// What of the registry is each app's, in the order of the apps' numbers. O(apps).
    package var appUsages: [AppUsage] {
        self.catalogue.apps.enumerated().map { number, app in
            AppUsage(
                app: app.id,
                team: TeamID(self.catalogue.teamName(app.team)),
                self.usages[AppNumber(number)]
            )
        }
    }

    /// Changes whenever ``appUsages`` does.
    package var usageVersion: UInt64 { self.usages.version }

    /// What would come to this partition's registry with a registration, were it applied now; nothing if it would be refused.
    ///
    /// Of another host that loses its last token to it nothing is counted; see ``usage(endingWith:)``.
    package func additions(of registration: HostRegistration) -> RegistryAdditions {
        guard self.refusal(of: registration) == nil else { return RegistryAdditions() }
        guard let host = self.hosts.find(registration.host), self.hosts[host].isRegistered else {
            let count = registration.instances.count
            return RegistryAdditions(hosts: 1, instances: count, newInstances: count)
        }
        let live = Set(
            self.instances(of: host).filter { self.instances[$0].isLive }.map { self.instances.id(of: $0) }
        )
        return RegistryAdditions(
            instances: registration.instances.count - live.count,
            newInstances: registration.instances.count { !live.contains($0.id) }
        )
    }

    /// What would go of the registry if a token were another host's from now on: a host that has no other one, else nothing.
    package func usage(endingWith token: DeviceToken) -> RegistryUsage {
        guard let binding = self.tokens.binding(of: token), binding.instance.isNone,
            self.tokens.count(from: self.hosts[binding.host].firstToken) == 1
        else { return RegistryUsage() }
        return RegistryUsage(hosts: 1, instances: Int(self.hosts[binding.host].liveInstances))
    }

    // MARK: Counting

    /// Counts a host that is registered from now on, or that is no more.
    mutating func count(host: HostNumber, isRegistered: Bool) {
        let sign = isRegistered ? 1 : -1
        self.counters.hosts += sign
        let bytes = self.hosts.nameBytes(of: host)
        self.usages[self.hosts[host].app].hosts += sign
        self.usages[self.hosts[host].app].textBytes += sign * bytes
    }

    /// The app whose an instance is.
    func app(of instance: InstanceNumber) -> AppNumber { self.catalogue[self.instances[instance].kind].app }

    /// What apps have, counted one by one: what the running counts have to be. O(instances).
    func countedUsages() -> UsageTable {
        var usages = UsageTable()
        for host in self.hosts.usedNumbers() where self.hosts[host].isRegistered {
            usages[self.hosts[host].app].hosts += 1
            usages[self.hosts[host].app].textBytes += self.hosts.nameBytes(of: host)
        }
        for instance in self.instances.usedNumbers() {
            let app = self.app(of: instance)
            if self.instances[instance].isLive { usages[app].instances += 1 } else { usages[app].tombstones += 1 }
            usages[app].textBytes += self.instances.details.textBytes(of: instance)
        }
        return usages
    }
}

extension InstanceDetails.Particulars {
    /// Bytes of the tags, 16 for each beside, and of the condition as it is logged. O(bytes).
    var textBytes: Int {
        let tags = self.tags.reduce(0) { $0 + $1.utf8.count + 16 }
        guard let when = self.when else { return tags }
        var writer = ByteWriter()
        when.encode(into: &writer)
        return tags + writer.bytes.count
    }
}
