/// How far a run is, for those that watch it.
package struct LoadProgress: Hashable, Sendable {
    /// Nanoseconds since its beginning, and how long it is.
    package var elapsed: Int64
    package var length: Int64
    package var sent: Int
    package var answered: Int
    package var failed: Int
    /// Requests that wait for answers.
    package var waiting: Int
    package var reloads: Int
    package var acknowledged: Int
}
