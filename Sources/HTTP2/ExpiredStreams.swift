/// How many streams of a session took too long, by the slow part.
package struct ExpiredStreams: Hashable, Sendable {
    /// Requests that did not arrive whole, or went on after their answer.
    package var requests: Int
    /// Output that was not taken.
    package var stalls: Int

    package init(requests: Int, stalls: Int) {
        self.requests = requests
        self.stalls = stalls
    }
}
