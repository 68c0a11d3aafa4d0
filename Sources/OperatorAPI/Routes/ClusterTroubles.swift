package import Clustering
import Engine
package import WidgetModel

/// The faults of the nodes that share a log, worst first, each with the advice for an operator: `GET /v1/cluster` names them, so that the
/// dashboard and `freshet cluster status` say the same.
package struct ClusterTroubles {
    package enum Level: String, Hashable, Sendable {
        /// Now something stands still, or may be lost.
        case bad
        /// Soon it may.
        case warn
    }

    package struct Trouble: Hashable, Sendable {
        package let level: Level
        package let text: String
        package let act: String
    }

    package private(set) var all: [Trouble] = []

    /// - Parameters:
    ///   - brokers: Nil while they do not answer.
    ///   - clocks: Those that are apart now.
    ///   - settings: A digest of the settings that partitions decide by; nil while it is not known.
    package init(
        of view: ClusterView,
        _ brokers: BrokersView?,
        _ clocks: [ClockTrouble],
        settings: UInt64?,
        at now: Instant
    ) {
        self.addPartitions(of: view)
        for clock in clocks { self.add(clock) }
        for node in view.nodes where node.isMissing {
            let silence = Self.span(node.silentFor)
            self.add(
                .bad,
                "The node \(node.node.name.rawValue) was not heard for \(silence).",
                "Start it again. If it is gone for good, drain it."
            )
        }
        self.addFaults(of: brokers)
        for seen in view.partitions {
            guard let since = view.overdueSince(seen) else { continue }
            self.add(
                .warn,
                "Partition \(seen.partition) has had no snapshot for \(Self.span(max(.zero, now - since))).",
                "Read why in the log of its owner. Until there is one, the log grows, and a takeover without a standby replays it."
            )
        }
        self.addDifferences(of: view, settings)
        let lagging = brokers?.streams.count { $0.leader != nil && $0.current < $0.replicas } ?? 0
        if lagging > 0 {
            self.add(
                .warn,
                "\(lagging) \(lagging == 1 ? "stream is" : "streams are") not whole on every broker.",
                "A broker is away or catches up. Until it is back, the loss of one more broker can stop the log."
            )
        }
    }

    private mutating func add(_ level: Level, _ text: String, _ act: String) {
        self.all.append(Trouble(level: level, text: text, act: act))
    }

    private mutating func addPartitions(of view: ClusterView) {
        let stranded = view.strandedPartitions
        for (rules, partitions) in stranded.sorted(by: { $0.key < $1.key }) {
            let which = Self.which(partitions)
            let program = Engine.program(of: Int(rules))
            self.add(
                .bad,
                "\(which) \(partitions.count == 1 ? "waits" : "wait") for a node with rules \(rules) (\(program)).",
                "Start one."
            )
        }
        let waiting = Set(stranded.values.joined())
        let unowned = view.partitions.filter { $0.state == .unowned }.map(\.partition).filter { !waiting.contains($0) }
        if !unowned.isEmpty {
            self.add(
                .bad,
                "\(Self.which(unowned)) \(unowned.count == 1 ? "has" : "have") no owner.",
                "Another node takes such a partition within seconds. If none does, see whether the brokers answer, and start a node."
            )
        }
        let failed = view.partitions.filter { $0.state == .failed }.map(\.partition)
        if !failed.isEmpty {
            self.add(
                .bad,
                "\(Self.which(failed)) cannot go on.",
                "Read the critical line in the log of the owner, then restart it."
            )
        }
    }

    private mutating func add(_ clock: ClockTrouble) {
        let difference = clock.storedAt - clock.writtenAt
        let order = difference < .zero ? "behind" : "ahead of"
        let span = Self.span(difference < .zero ? .zero - difference : difference)
        self.add(
            .bad,
            "Partition \(clock.partition): the clock of its broker is \(span) \(order) a node's.",
            "Until you set them right, the time of the partition stands still, and no timer fires."
        )
    }

    private mutating func addFaults(of brokers: BrokersView?) {
        guard let brokers else {
            return self.add(
                .bad,
                "The brokers have not answered lately.",
                "Pushes wait until they do. See whether most of the brokers run."
            )
        }
        for broker in brokers.brokers {
            guard let fault = broker.fault else { continue }
            self.add(
                .bad,
                "The broker \(broker.name) could lose accepted pushes.",
                "\(fault.prefix(1).uppercased())\(fault.dropFirst())."
            )
        }
        let count = brokers.leaderless.count
        if count > 0 {
            self.add(
                .bad,
                "\(count) \(count == 1 ? "stream has" : "streams have") no leader.",
                "Brokers choose one within seconds. If they do not, see whether most of them run."
            )
        }
    }

    // MARK: Nodes that differ

    private mutating func addDifferences(of view: ClusterView, _ settings: UInt64?) {
        for (names, rest) in Self.apart(view, settings, by: \.settings) {
            self.add(
                .warn,
                "\(names) other settings than \(rest ?? "those in force").",
                "Give all nodes one configuration file, then run freshet reload on each."
            )
        }
        for (names, rest) in Self.apart(view, nil, by: \.credentials) {
            self.add(
                .warn,
                "\(names) other credentials than \(rest ?? "the others").",
                "Give all nodes the same keys, operators and certificates, then run freshet reload on each."
            )
        }
    }

    /// The nodes that differ from others in a digest, and from whom. What is not known is no difference.
    ///
    /// - Parameter reference: The digest to have; nil for that of most nodes.
    private static func apart(
        _ view: ClusterView,
        _ reference: UInt64?,
        by digest: (NodeReport) -> UInt64
    ) -> [(names: String, rest: String?)] {
        var names: [UInt64: [String]] = [:]
        for node in view.nodes {
            guard let report = view.comparableReport(of: node) else { continue }
            names[digest(report), default: []].append(node.node.name.rawValue)
        }
        let groups = names.sorted { ($1.value.count, $0.value[0]) < ($0.value.count, $1.value[0]) }
        guard let reference = reference ?? groups.first?.key else { return [] }
        let rest = names[reference]?.joined(separator: ", ")
        return groups.filter { $0.key != reference }.map { group in
            ("\(group.value.joined(separator: ", ")) \(group.value.count == 1 ? "has" : "have")", rest)
        }
    }

    // MARK: Words

    private static func which(_ partitions: [PartitionID]) -> String {
        "\(partitions.count == 1 ? "Partition" : "Partitions") \(partitions.map { "\($0)" }.joined(separator: ", "))"
    }

    /// In the largest unit of which there are two.
    private static func span(_ interval: Interval) -> String {
        let seconds = max(1, interval.milliseconds / 1000)
        let units: [(name: String, seconds: Int64)] = [("days", 86_400), ("h", 3600), ("min", 60), ("s", 0)]
        let unit = units.first { seconds >= 2 * $0.seconds } ?? units[3]
        return "\(seconds / max(1, unit.seconds)) \(unit.name)"
    }
}

extension ClusterTroubles.Trouble {
    var json: JSONValue {
        JSONValue.object(of: [
            ("level", .string(self.level.rawValue)), ("text", .string(self.text)), ("act", .string(self.act)),
        ])
    }
}

extension ClusterView {
    /// A node's newest report, if its digests can be compared with this one's: another version of the program may make them of something
    /// else.
    func comparableReport(of node: Node) -> NodeReport? {
        node.isAlive && node.report?.program == self.ownReport?.program ? node.report : nil
    }
}
