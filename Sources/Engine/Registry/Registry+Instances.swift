import IntentMatching
import Storage
import WidgetModel

/// Widget instances by number: their identities, and their seldom read details.
extension Registry {
    /// The identity of an instance.
    @inline(__always)
    subscript(instance: InstanceNumber) -> Instance {
        _read { yield self.instances.rows[instance] }
        _modify { yield &self.instances.rows[instance] }
    }

    /// The fields that few registrations have.
    @inline(__always)
    subscript(coldFields instance: InstanceNumber) -> ColdFields {
        _read { yield self.instances.details[coldFields: instance] }
        _modify { yield &self.instances.details[coldFields: instance] }
    }

    /// The state of content that an instance shows, and will.
    @inline(__always)
    subscript(content instance: InstanceNumber) -> Content {
        _read { yield self.instances.details[content: instance] }
        _modify { yield &self.instances.details[content: instance] }
    }

    /// The events of an instance beside the reloads that it was given.
    @inline(__always)
    subscript(observed instance: InstanceNumber) -> Observed {
        _read { yield self.instances.details[observed: instance] }
        _modify { yield &self.instances.details[observed: instance] }
    }

    /// The fields that few registrations have; nil for the many without any.
    @inline(__always)
    func coldFields(of instance: InstanceNumber) -> ColdFields? { self.instances.details.coldFields(of: instance) }

    /// The id of an instance. O(bytes).
    @inline(__always)
    func id(of instance: InstanceNumber) -> InstanceID { self.instances.details.id(of: instance) }

    /// Lends the bytes of an instance's id, in UTF-8.
    @inline(__always)
    func withID(of instance: InstanceNumber, _ body: (Span<UInt8>) -> Void) {
        self.instances.details.withID(of: instance, body)
    }

    @inline(__always)
    func family(of instance: InstanceNumber) -> WidgetFamily { self.instances.details.family(of: instance) }

    mutating func setFamily(of instance: InstanceNumber, _ family: WidgetFamily) {
        self.instances.details.setFamily(of: instance, family)
    }

    /// The entry from which the state of an instance's content is known, see ``InstanceDetails/confirmedBy(of:)``.
    @inline(__always)
    func confirmedBy(of instance: InstanceNumber) -> LogPosition { self.instances.details.confirmedBy(of: instance) }

    mutating func setConfirmedBy(of instance: InstanceNumber, _ position: LogPosition) {
        self.instances.details.setConfirmedBy(of: instance, position)
    }

    /// The configuration of an instance. O(size).
    func configuration(of instance: InstanceNumber) -> Configuration {
        self.instances.details.configuration(of: instance)
    }

    /// Whether an instance is configured like that, see ``InstanceDetails/isConfigured(_:as:)``.
    mutating func isConfigured(_ instance: InstanceNumber, as configuration: Configuration) -> Bool {
        self.instances.details.isConfigured(instance, as: configuration)
    }

    mutating func setConfiguration(of instance: InstanceNumber, _ configuration: Configuration) {
        self.instances.details.setConfiguration(of: instance, configuration)
    }

    /// How many bytes an instance's texts take, see ``InstanceDetails/textBytes(of:)``.
    func textBytes(of instance: InstanceNumber) -> Int { self.instances.details.textBytes(of: instance) }

    /// Takes in an instance that has no number.
    mutating func insertInstance(_ id: InstanceID, _ family: WidgetFamily, _ row: Instance) -> InstanceNumber {
        self.instances.insert(row, InstanceDetails.Row(id: id, family: family))
    }

    /// Leaves an instance that is removed nothing but its id, its family and its row.
    mutating func clearDetails(of instance: InstanceNumber) { self.instances.details.clear(instance) }

    /// Leaves nothing of an instance. Precondition: its host does not list it.
    mutating func releaseInstance(_ instance: InstanceNumber) { self.instances.release(instance) }

    /// Instances in use, removed ones included.
    var instanceCount: Int { self.instances.rows.count }
    /// All numbers of instances are below this; some of them may be free.
    var instanceEnd: Int { self.instances.rows.end }
    /// All numbers that instances ever had; of one that is free, the row is not live.
    var instanceNumbers: Range<InstanceNumber> { self.instances.rows.numbers }

    /// Some of them, see `Table.numbers(from:atMost:)`.
    func instanceNumbers(from start: InstanceNumber, atMost count: Int) -> Range<InstanceNumber> {
        self.instances.rows.numbers(from: start, atMost: count)
    }

    /// Every instance, removed ones included, in the order of its number. O(instances).
    func usedInstances() -> [InstanceNumber] { self.instances.rows.usedNumbers() }

    /// Fetches the row of an instance.
    @inline(__always)
    func prefetch(_ instance: InstanceNumber) { self.instances.rows.prefetch(instance) }

    /// Fetches where the state of an instance's content is.
    @inline(__always)
    func prefetchDetails(of instance: InstanceNumber) { self.instances.details.prefetch(instance) }

    /// Fetches the id of an instance; see ``prefetchDetails(of:)``, which is best called some time before.
    @inline(__always)
    func prefetchID(of instance: InstanceNumber) { self.instances.details.prefetchText(of: instance) }

    /// Fetches the state of an instance's content; see ``prefetchDetails(of:)``, which is best called some time before.
    @inline(__always)
    func prefetchContent(of instance: InstanceNumber) { self.instances.details.prefetchContent(of: instance) }
}

/// The instances of a host: a list in the order of ids, removed ones included, whose first the host knows.
extension Registry {
    /// The instances of a host in the order of ids, removed ones included. O(its instances).
    func instances(of host: HostNumber) -> [InstanceNumber] {
        var found: [InstanceNumber] = []
        var instance = self[host].firstInstance
        while !instance.isNone {
            found.append(instance)
            instance = self[instance].nextOfHost
        }
        return found
    }

    /// The instances of a host that it shows, in the order of ids. O(its instances).
    func liveInstances(of host: HostNumber) -> [InstanceNumber] {
        self.instances(of: host).filter { self[$0].isLive }
    }

    /// The number of a live instance of a registered host by its address. O(instances of the host).
    @inline(__always)
    func liveInstance(_ address: InstanceAddress) -> InstanceNumber? {
        guard let host = self.findHost(address.host), self[host].isRegistered else { return nil }
        var instance = self[host].firstInstance
        while !instance.isNone {
            if self.id(of: instance) == address.instance { return self[instance].isLive ? instance : nil }
            instance = self[instance].nextOfHost
        }
        return nil
    }

    /// Makes these the host's list of instances, in this order, and counts the live ones. O(order).
    mutating func link(_ order: [InstanceNumber], to host: HostNumber) {
        self[host].firstInstance = order.first ?? .none
        var live: UInt32 = 0
        for (index, instance) in order.enumerated() {
            self[instance].nextOfHost = index + 1 < order.count ? order[index + 1] : .none
            if self[instance].isLive { live += 1 }
        }
        self[host].liveInstances = live
    }

    /// Takes an instance out of its host's list. Precondition: it is not live, so it is not counted there. O(its instances).
    mutating func unlink(_ instance: InstanceNumber) {
        precondition(!self[instance].isLive, "a live instance is taken from its host")
        let (host, next) = (self[instance].host, self[instance].nextOfHost)
        var before = self[host].firstInstance
        guard before != instance else { return self[host].firstInstance = next }
        while self[before].nextOfHost != instance { before = self[before].nextOfHost }
        self[before].nextOfHost = next
    }
}
