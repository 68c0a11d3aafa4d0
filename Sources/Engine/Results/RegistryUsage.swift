package import WidgetModel

/// An app's part of the registry, in one partition or more.
package struct RegistryUsage: MemberCounts, Hashable, Sendable {
    package static let members: [Member] = [\.hosts, \.instances, \.tombstones, \.textBytes]

    /// Registered hosts.
    package var hosts = 0
    /// Live instances.
    package var instances = 0
    /// Removed instances with a remembered budget.
    package var tombstones = 0
    /// Bytes of the hosts' keys, and of the instances' ids, packed configurations, tags and conditions.
    package var textBytes = 0

    package init() {}
    package init(hosts: Int = 0, instances: Int = 0, tombstones: Int = 0, textBytes: Int = 0) {
        self.hosts = hosts
        self.instances = instances
        self.tombstones = tombstones
        self.textBytes = textBytes
    }

    /// The bytes that a host takes beside its key: its packed row, its token, where both are looked up, its timer.
    private static let bytesPerHost = 96
    /// The bytes that an instance takes beside its texts: its packed row, its place in the index, its timer.
    private static let bytesPerInstance = 80
    /// The part of that which a removed one still takes.
    private static let bytesPerTombstone = 48

    /// About how many bytes of memory that is: an estimate, by the layout of the tables (docs/performance.md, "What an
    /// instance takes in memory"). It is less than the growth of the process: tables outside of the engine, decisions,
    /// timelines, waiting pushes and active rows are not in it.
    package var bytes: Int {
        self.hosts * Self.bytesPerHost + self.instances * Self.bytesPerInstance
            + self.tombstones * Self.bytesPerTombstone + self.textBytes
    }
}

/// An app's part of a partition's registry, with the app's team.
package struct AppUsage: Hashable, Sendable {
    package let app: BundleID
    /// The team that the settings in force, or the last ones that named the app, say.
    package let team: TeamID
    package let usage: RegistryUsage

    package init(app: BundleID, team: TeamID, _ usage: RegistryUsage) {
        self.app = app
        self.team = team
        self.usage = usage
    }
}

/// The hosts and instances that a registration would add to the registry.
package struct RegistryAdditions: Hashable, Sendable {
    /// Hosts more than there are: 1, 0, or less if it takes another host its last token.
    package var hosts = 0
    /// Live instances more than there are; less than 0 if there will be fewer.
    package var instances = 0
    /// Instances that are not shown now: new ones, and removed ones that return.
    package var newInstances = 0

    package init(hosts: Int = 0, instances: Int = 0, newInstances: Int = 0) {
        self.hosts = hosts
        self.instances = instances
        self.newInstances = newInstances
    }
}
