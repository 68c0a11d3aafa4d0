/// How far an operation has come; its latency is counted from the instant at which it was meant to be sent.
package enum LatencyStage: String, Hashable, Sendable, CaseIterable {
    /// The answer has come: of a push, it is on disk.
    case accepted
    /// Every partition has decided the push's matches.
    case decided
    /// A reload has reached its host.
    case delivered
    /// The host has said that it shows the reload's content, and the gateway has noted it.
    case shown
}
