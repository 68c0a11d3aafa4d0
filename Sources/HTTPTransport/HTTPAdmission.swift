/// The word of a listener's owner to a connection whose handshake is complete and whose requests are not read yet.
package enum HTTPAdmission: Hashable, Sendable {
    /// Its requests are taken.
    ///
    /// - Parameter streamsMax: How many it may have open until ``HTTPConnection/liftStreamLimit()``, announced in the
    ///   first SETTINGS; nil for the listener's own limit, which bounds it in any case. HTTP/1.1 has one at a time.
    case accepted(streamsMax: UInt32?)
    /// None is taken: GOAWAY with NO_ERROR right behind the first SETTINGS (RFC 9113, 6.8). HTTP/1.1 is closed.
    ///
    /// - Parameter debug: The debug data for the peer: APNs sends JSON, `{"reason":"…"}`.
    case refused(debug: String)
}
