/// What a listener has counted since it started.
package struct HTTPListenerCounters: Hashable, Sendable {
    /// Connections open now.
    package var connections = 0
    package var connectionsAccepted = 0
    /// Closed as they came, above `connectionsMax`.
    package var connectionsRefused = 0
    package var handshakesFailed = 0
    /// Refused by the owner after their handshake.
    package var connectionsNotAdmitted = 0
    package var requests = 0
    /// Answers to streams that had gone.
    package var answersDropped = 0
    /// Connections ended by a limit of `HTTP2Limits` or a broken protocol.
    package var connectionsEndedByFault = 0
    /// Connections or streams ended by a deadline.
    package var deadlinesMissed = 0

    package init() {}

    package static func += (sum: inout Self, other: Self) {
        sum.connections += other.connections
        sum.connectionsAccepted += other.connectionsAccepted
        sum.connectionsRefused += other.connectionsRefused
        sum.handshakesFailed += other.handshakesFailed
        sum.connectionsNotAdmitted += other.connectionsNotAdmitted
        sum.requests += other.requests
        sum.answersDropped += other.answersDropped
        sum.connectionsEndedByFault += other.connectionsEndedByFault
        sum.deadlinesMissed += other.deadlinesMissed
    }
}
