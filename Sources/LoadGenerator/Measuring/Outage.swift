/// A time in which a listener of the server had no connection with the generator. Instants are nanoseconds after the run's
/// beginning.
package struct Outage: Hashable, Sendable {
    /// The listener there: `push` or `host`.
    package let listener: String
    /// When the last connection was lost.
    package let began: Int64
    /// When there was a connection again; nil if there was none until the run's end.
    package internal(set) var ended: Int64?
    /// When all that had become due meanwhile was sent; nil if that did not come to be.
    package internal(set) var recovered: Int64?
}
