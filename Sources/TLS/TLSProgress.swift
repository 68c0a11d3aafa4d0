/// The result of asking a session for plaintext.
package enum TLSProgress: Hashable, Sendable {
    /// So many bytes were written to the start of the buffer; there may be more.
    case bytes(Int)
    /// There is nothing more to read before the peer sends more.
    case needsMoreCiphertext
    /// The peer has sent close_notify: this was all, and it was not cut short.
    case closedCleanly
}

/// Where a session stands.
package enum TLSState: Hashable, Sendable {
    /// Turns into `ready` when the handshake is complete, or into `closed` when it fails.
    case handshaking
    /// Plaintext goes both ways. Turns into `closed` by ``TLSSession/shutdown()`` or by an error.
    case ready
    /// Nothing can be written any more. The peer's last bytes can be read unless an error ended the session.
    case closed
}
