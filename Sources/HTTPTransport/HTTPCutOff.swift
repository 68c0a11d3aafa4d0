/// Connections that ended because they passed a limit.
package struct HTTPCutOff: Hashable, Sendable {
    /// The limit, by its key in the configuration.
    package let limit: String
    /// How many since the listener was opened.
    package var times: Int
    /// Address and port of the last one's peer.
    package var peer: String
    /// How long ago that was, in seconds.
    package var secondsAgo: UInt32

    package init(limit: String, times: Int, peer: String, secondsAgo: UInt32) {
        self.limit = limit
        self.times = times
        self.peer = peer
        self.secondsAgo = secondsAgo
    }
}
