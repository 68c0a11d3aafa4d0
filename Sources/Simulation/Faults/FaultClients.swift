import Engine
import WidgetModel

/// Something that a sender, a host or an operator wants the gateway to know, sent again until it is answered.
struct ClientRequest: Sendable {
    enum Origin: Hashable, Sendable {
        case sender
        case host(Int)
        case operators
    }

    let origin: Origin
    /// Of a push to a token: with the target that its sender means. The gateway looks up what the token stands for.
    let record: Record
    /// The token that a push is for.
    var token: DeviceToken?
    /// The most instances that a push may match, if its sender says so.
    var matchedMax: Int?
    /// How many that may be in each partition, once it was asked.
    var limits: [Int]?
    /// The partitions whose logs it goes to; of a push to a token, those that it went to.
    var partitions: [PartitionID]
    var isAnswered = false
    /// Whether any gateway has tried to append it.
    var wasAppended = false
}

/// A host of a run with faults: its memory outlives the gateway.
struct FaultHost: Sendable {
    let id: HostKey
    var revision: UInt64 = 0
    var delivery = HostDelivery.stream
    /// Counts its push tokens: APNs knows the last one alone.
    var tokens = 0
    /// The number of its connection, nil while it has none.
    var session: Int?
    /// The reloads that it has done, by which it knows those that it is told of again.
    var done: Set<ReloadID> = []

    /// The host's token, of its widgets.
    var token: DeviceToken { DeviceToken(bytes: Array("token \(self.tokens) of \(self.id)".utf8)) }
    var controlToken: DeviceToken { DeviceToken(bytes: Array("control of \(self.id)".utf8)) }
}
