package import WidgetModel

/// The name of a node: its operator gives it, and it says which partitions are the node's. It outlasts restarts.
package struct NodeName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The longest name, in bytes.
    package static let lengthMax = 64

    package let rawValue: String

    /// - Parameter rawValue: 1 to 64 letters, digits, dots, hyphens and underscores; nil for any other name.
    package init?(_ rawValue: String) {
        let isName = rawValue.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, (1...Self.lengthMax).contains(rawValue.utf8.count) else { return nil }
        self.rawValue = rawValue
    }

    package var description: String { self.rawValue }
    package static func < (left: NodeName, right: NodeName) -> Bool { left.rawValue < right.rawValue }
}

/// One start of a node. Of two nodes with one name the later one gives way.
package struct Incarnation: Hashable, Comparable, Sendable {
    /// By the node's own clock.
    package let startedAt: Instant
    /// Tells two starts in one millisecond apart.
    package let number: UInt64

    package init(startedAt: Instant, number: UInt64) {
        self.startedAt = startedAt
        self.number = number
    }

    package static func < (left: Incarnation, right: Incarnation) -> Bool {
        (left.startedAt, left.number) < (right.startedAt, right.number)
    }
}

/// A node, as others know it.
package struct ClusterNode: Hashable, Sendable {
    package let name: NodeName
    package let incarnation: Incarnation
    /// Where other nodes and people reach it; for them to read, and never asked by placement.
    package let address: String
    /// The number of the decision rules that it decides by.
    package let rules: UInt32

    package init(name: NodeName, incarnation: Incarnation, address: String, rules: UInt32) {
        self.name = name
        self.incarnation = incarnation
        self.address = address
        self.rules = rules
    }
}

/// The number of a claim among all that were ever made in the cluster: later ones are higher. Of one partition's claims it is the
/// epoch.
package struct Epoch: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package var description: String { String(self.rawValue) }
    package static func < (left: Epoch, right: Epoch) -> Bool { left.rawValue < right.rawValue }
}

/// The brokers' word on a partition: the node that decides it, until another claim is stored behind this one.
///
/// It has no end of its own. So nothing has to be renewed, and brokers that elect a leader for some seconds move nothing.
package struct Claim: Hashable, Sendable {
    package let epoch: Epoch
    /// The node that made it.
    package let node: ClusterNode
    /// Whether that node has let go of the partition.
    package let isReleased: Bool
    /// The node that is to have it next, if it was released for one.
    package let successor: NodeName?
    /// The decision rules by which the partition's log goes on, as far as its node knew.
    package let rules: UInt32

    package init(epoch: Epoch, node: ClusterNode) {
        self.epoch = epoch
        self.node = node
        self.isReleased = false
        self.successor = nil
        self.rules = node.rules
    }

    package init(epoch: Epoch, node: ClusterNode, _ release: Release) {
        self.epoch = epoch
        self.node = node
        self.isReleased = true
        self.successor = release.successor
        self.rules = release.rules
    }
}
