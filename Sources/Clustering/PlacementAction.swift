package import WidgetModel

/// An action that ``PlacementMachine`` wants done.
package enum PlacementAction: Hashable, Sendable {
    /// Tell all nodes, this one too.
    case beat(Beat)
    /// Find out by which rules the log of a partition goes on; then ``PlacementMachine/rulesRead(_:behind:_:)``.
    case readRules(PartitionID, behind: Epoch?)
    /// Read the newest claim of every partition and the operators' wishes, and pass them to ``PlacementMachine/claimsRead(_:_:)``.
    case readClaims
    /// Store a claim behind one that is the newest, nil for none; then ``PlacementMachine/claimed(_:_:)``.
    case claim(PartitionID, behind: Epoch?)
    /// Store that a claim is let go of, if it is the newest; then ``PlacementMachine/released(_:_:)``.
    case release(PartitionID, behind: Epoch, Release)
    /// Start an owner; then ``PlacementMachine/ownerStarted(_:)``, or ``PlacementMachine/ownerStopped(_:_:)``.
    case startOwner(PartitionID, Epoch)
    /// End an owner, also one that is starting; then ``PlacementMachine/ownerStopped(_:_:)``.
    case stopOwner(PartitionID, StopManner)
    /// Follow the owner that another node has; then ``PlacementMachine/standbyFollows(_:lag:)``, or
    /// ``PlacementMachine/standbyEnded(_:_:)``. When an owner is started here, the standby becomes that owner.
    case startStandby(PartitionID)
    case stopStandby(PartitionID)
    /// The node cannot be one of this cluster: end it, and say why.
    case refuse(NodeError)
    /// All that the node had is let go of: it may end.
    case left
}

/// The terms on which a partition is released.
package struct Release: Hashable, Sendable {
    /// The node that is to have it next; nil for the first by hashing.
    package let successor: NodeName?
    /// The rules by which its log goes on.
    package let rules: UInt32

    package init(to successor: NodeName?, rules: UInt32) {
        self.successor = successor
        self.rules = rules
    }
}

/// How an owner ends.
package enum StopManner: Hashable, Sendable {
    /// Another node has the partition, and decides anew all that is decided here and not committed.
    case atOnce
    /// At the end of an entry, once all that it decided is committed.
    case committed
    /// In the same way, with a snapshot of exactly that state, and behind it the gate to other decision rules.
    case behindGate(rules: UInt32)
}

/// Why an owner ended.
package enum OwnerEnd: Hashable, Sendable {
    /// It was told to.
    case stopped
    /// Another owner has committed.
    case fenced
    /// It cannot go on, here or elsewhere.
    case failed
    /// It could not read its log or snapshots, which may be over by itself.
    case unavailable
    /// Other rules decide behind the gate that it has committed.
    case passedGate
    /// The log goes on by these rules, and it has others.
    case otherRules(UInt32)
}

/// Why a standby ended.
package enum StandbyEnd: Hashable, Sendable {
    /// It came to another state than the owner.
    case disagreed
    /// It could not go on, which may be over by itself.
    case failed
}

/// Why a node cannot be one of a cluster.
package enum NodeError: Error, Hashable, Sendable, CustomStringConvertible {
    case nameTaken(NodeName, address: String)

    package var description: String {
        switch self {
        case .nameTaken(let name, let address):
            """
            another node named \(name) runs at \(address); give each node a name of its own in journal.jetstream.node.name, or end \
            the other one
            """
        }
    }
}

/// The outcome of a claim.
package enum ClaimOutcome: Hashable, Sendable {
    case stored(Epoch)
    /// Another claim is the newest; nil if there is none.
    case lost(Claim?)
    /// No broker has stored it, and none will.
    case notStored
}
