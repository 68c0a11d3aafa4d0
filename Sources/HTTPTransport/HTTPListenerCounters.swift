package import HTTP2

/// A listener's counts since it started.
package struct HTTPListenerCounters: Hashable, Sendable {
    /// Connections open now.
    package var connections = 0
    /// How many it and those that share its descriptors may have open together; nil for no bound.
    package var allowance: Int?
    /// Those of them whose TLS handshake is not made yet.
    package var handshakes = 0
    /// Bytes that they make the listener hold now.
    package var heldBytes = 0
    package var connectionsAccepted = 0
    /// Closed as they came, above a limit of connections.
    package var connectionsRefused = 0
    /// Connections that the system could not give, for want of descriptors or memory.
    package var acceptsFailed = 0
    package var handshakesFailed = 0
    /// Refused by the owner after their handshake.
    package var connectionsNotAdmitted = 0
    package var requests = 0
    package var answers = HTTPAnswers()
    /// Answers to streams that had gone.
    package var answersDropped = 0
    /// Connections ended by a limit of `HTTP2Limits` or a broken protocol.
    package var connectionsEndedByFault = 0
    /// How often a connection passed a limit of its own.
    package var connectionLimits = Tally<HTTP2Limit>()
    /// How often a limit of the listener was met.
    package var listenerLimits = Tally<HTTPListenerLimit>()
    /// Connections or streams ended by a deadline.
    package var deadlines = Tally<HTTPListenerDeadline>()
    /// Connections that a limit ended, by the limits' keys in alphabetical order.
    package var cutOff: [HTTPCutOff] = []

    package init() {}

    package static func += (sum: inout Self, other: Self) {
        sum.connections += other.connections
        sum.allowance = other.allowance ?? sum.allowance
        sum.handshakes += other.handshakes
        sum.heldBytes += other.heldBytes
        sum.connectionsAccepted += other.connectionsAccepted
        sum.connectionsRefused += other.connectionsRefused
        sum.acceptsFailed += other.acceptsFailed
        sum.handshakesFailed += other.handshakesFailed
        sum.connectionsNotAdmitted += other.connectionsNotAdmitted
        sum.requests += other.requests
        sum.answers += other.answers
        sum.answersDropped += other.answersDropped
        sum.connectionsEndedByFault += other.connectionsEndedByFault
        sum.connectionLimits += other.connectionLimits
        sum.listenerLimits += other.listenerLimits
        sum.deadlines += other.deadlines
    }
}
