/// Why a listener ends a connection of its own accord, in APNs' words: the `reason` of the GOAWAY's debug data.
///
/// Source: Apple, "Sending notification requests to APNs" (the GOAWAY frame's JSON) and "Handling notification
/// responses from APNs" (the reasons). A peer's faults are told in plain sentences instead; see `HTTP2Error`.
enum GoAwayReason: String, Hashable, Sendable {
    /// The process ends.
    case shutdown = "Shutdown"
    /// The peer had nothing to say for `Deadlines.idle`.
    case idleTimeout = "IdleTimeout"

    /// The debug data.
    var json: String { "{\"reason\":\"\(self.rawValue)\"}" }
}
