import Engine
import Scenarios
import WidgetModel

/// One host of a run: where it lives, and what its user does at the moment.
struct SimulatedHost: Sendable {
    /// The user's present phase; a timer of the host's ends it.
    enum Phase: UInt8, Sendable {
        case unregistered
        case idle
        case looking
        case inApp
    }

    let id: HostKey
    let population: Int
    /// Of the population's zones.
    let zone: Int
    var dice: Dice
    var phase = Phase.unregistered
    var isInStandBy = false
    /// Its instances, one behind the other.
    let instances: Range<Int>
}

/// One widget instance of a run: the data it is about, and how much of that it shows.
struct SimulatedInstance: Sendable {
    let id: InstanceID
    let host: Int
    let kind: Int
    /// The parameter's value, by number.
    let value: Int
    /// How many changes of the data are shown; the next one, if it has happened, makes the instance stale.
    var seen = 0
    var isStarved = false
    /// When its timeline asked for the next one, in seconds after the start; below zero if it did not.
    var wantedAt: Int32 = -1
}

/// Something on its way: mostly a timeline that a host has asked its provider for.
struct Flight: Sendable {
    /// The errand to do when it lands.
    enum Errand: Sendable {
        /// A host on a stream shows the timeline, and reports it for this reload.
        case reload(ReloadID)
        /// A phone shows the timeline and reports it. The report does not name a reload.
        case phone
        /// APNs has taken the push whose reload this is.
        case receipt(ReloadID)
    }

    let instance: Int
    let errand: Errand
    /// When the provider looked at its data, in seconds after the start.
    let readAt: Int
    let isRefused: Bool
}

/// All hosts and instances whose records go to one partition.
struct Crowd: Sendable {
    var hosts: [SimulatedHost] = []
    var instances: [SimulatedInstance] = []
    /// The place in `hosts` of each of the scenario's hosts, -1 for those of other partitions.
    private var places: [Int32]
    /// By kind and value: the hosts that show it, in order, each once.
    private(set) var audience: [[[Int32]]]

    init(_ world: SimulatedWorld, partition: PartitionID) {
        let scenario = world.scenario
        self.places = Array(repeating: -1, count: scenario.hostCount)
        self.audience = scenario.kinds.map { Array(repeating: [], count: $0.values.count) }
        var number = 0
        for (row, population) in scenario.populations.enumerated() {
            let zones = WeightedChoice(weights: population.zones.map(\.weight))
            let choices = population.widgets.map { widgets in
                let kind = scenario.kinds.firstIndex { $0.kind == widgets.kind } ?? 0
                return (
                    kind, widgets.count, WeightedChoice(widgets.popularity, count: scenario.kinds[kind].values.count)
                )
            }
            for _ in 0..<population.hosts {
                defer { number += 1 }
                let id = HostKey(app: scenario.app, id: HostID("h\(number)"))
                guard PartitionID(of: id, among: scenario.partitions) == partition else { continue }
                var dice = Dice(seed: scenario.seed, for: .host, number)
                let zone = zones.draw(&dice)
                let first = self.instances.count
                for (kind, count, choice) in choices {
                    for _ in 0..<count { self.add(kind: kind, value: choice.draw(&dice), after: first) }
                }
                self.places[number] = Int32(self.hosts.count)
                let instances = first..<self.instances.count
                self.hosts.append(
                    SimulatedHost(id: id, population: row, zone: zone, dice: dice, instances: instances)
                )
            }
        }
    }

    private mutating func add(kind: Int, value: Int, after first: Int) {
        let host = self.hosts.count
        let id = InstanceID("w\(self.instances.count - first)")
        self.instances.append(SimulatedInstance(id: id, host: host, kind: kind, value: value))
        if self.audience[kind][value].last != Int32(host) { self.audience[kind][value].append(Int32(host)) }
    }

    /// The place of the instance that an address is of.
    func place(of address: InstanceAddress) -> Int {
        let host = Int(self.places[Self.number(address.host.id.rawValue)])
        return self.hosts[host].instances.lowerBound + Self.number(address.instance.rawValue)
    }

    /// The number behind the first letter.
    private static func number(_ name: String) -> Int {
        var number = 0
        for byte in name.utf8.dropFirst() { number = number * 10 + Int(byte & 15) }
        return number
    }
}
