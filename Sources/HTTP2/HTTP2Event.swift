/// Something that happened in a session besides completed messages.
package enum HTTP2Event: Hashable, Sendable {
    /// A stream went before its exchange was complete: reset by the peer, by a limit, or with the connection.
    case streamClosed(Int32, HTTP2ErrorCode)
    /// A stream whose write said `.full` has room again.
    case streamWritable(Int32)
    /// The peer's SETTINGS arrived and are in force; its limit of concurrent streams is this.
    case settings(maxConcurrentStreams: UInt32)
    /// The peer takes no streams above this one.
    case goAway(lastStreamID: Int32, HTTP2ErrorCode, debug: [UInt8])
    /// The acknowledgement of ``HTTP2Session/ping(_:)``.
    case pingAcknowledged(UInt64)
    /// The peer passed a limit that costs it less than the connection.
    case limitPassed(HTTP2Limit)
}
