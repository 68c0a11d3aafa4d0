package import Engine
package import WidgetModel

/// An action that a ``ReceiptMachine`` wants done next.
package enum ReceiptAction: Hashable, Sendable {
    /// Ask a partition for the pushes for an app that completed behind a place, so many at most, and give them to
    /// ``ReceiptMachine/takePage(_:of:for:now:)``.
    case find(BundleID, PartitionID, after: CompletionPlace?, limit: Int)
    /// Ask all partitions for the outcomes of these, and give them to ``ReceiptMachine/takeParts(_:for:now:)``.
    case findParts(BundleID, [PushID])
    /// Send it, and give the answer to ``ReceiptMachine/takeAnswer(_:to:now:)``.
    case send(ReceiptRequest)
    /// Store how far each app's receiver was told, by partition, and call ``ReceiptMachine/stored(now:)``.
    case store([BundleID: [CompletionPlace?]])
    /// People should know that something has happened to an app's receiver.
    case tellHealth(TargetHealth.Change, BundleID)
    /// People should know that pushes of a partition may have been forgotten before an app's receiver was told of them.
    case tellGap(BundleID, PartitionID)
}

/// The final outcomes of one push, in all partitions that had it.
package struct PushReceipt: Hashable, Sendable {
    /// At least one; a push for an app has one for each partition that still keeps it.
    package let parts: [PushView]

    package init(_ parts: [PushView]) { self.parts = parts }

    /// When the last of it was over.
    package var completedAt: Instant { self.parts.compactMap(\.completedAt).max() ?? .epoch }
}

/// One try to tell an app's receiver.
package struct ReceiptRequest: Hashable, Sendable {
    package let app: BundleID
    /// Which try it is, from 1.
    package let tryNumber: Int
    package let receipts: [PushReceipt]
    /// Whether there may be pushes that were forgotten before they could be told.
    package let mayMiss: Bool
    /// How long it may take.
    package let timeout: Interval

    /// The same for every try: a pure function of its contents.
    package var id: PushID {
        var hash = StableHash()
        hash.combine(self.app.rawValue)
        for push in self.receipts.compactMap(\.parts.first) {
            hash.combine(push.id.high)
            hash.combine(push.id.low)
            hash.combine(push.contentHash)
            hash.combine(push.position.rawValue)
        }
        return PushID(of: hash)
    }
}

/// The counts of receipts since the start.
package struct ReceiptCounters: Hashable, Sendable {
    /// Receipts that the receiver has taken.
    package var told = 0
    /// How often pushes may have been forgotten before they were told.
    package var gaps = 0
}

/// How an app's receiver of receipts does.
package struct ReceiptView: Hashable, Sendable {
    package let target: TargetView
    package let counters: ReceiptCounters
}
