/// The counts of a run, and its cost for the generator.
package struct LoadOutcome: Sendable {
    package var tally: LoadTally
    /// UNIX milliseconds of its beginning.
    package var began: Int64
    /// Nanoseconds from its beginning to the last answer, at most its length and the time to settle.
    package var elapsed: Int64
    /// CPU nanoseconds of this process between them, registrations and handshakes before left out.
    package var cpu: Int64
    /// Why it ended before its time.
    package var failure: String?

    package init(tally: LoadTally, began: Int64, elapsed: Int64, cpu: Int64, failure: String?) {
        self.tally = tally
        self.began = began
        self.elapsed = elapsed
        self.cpu = cpu
        self.failure = failure
    }
}
