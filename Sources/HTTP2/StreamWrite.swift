/// The result of writing a piece of a streamed response.
package enum StreamWrite: Hashable, Sendable {
    /// Taken; more may come at once.
    case accepted
    /// Taken; the next one should wait until the stream is writable again.
    case full
    /// Not taken: the stream has gone.
    case closed
}
