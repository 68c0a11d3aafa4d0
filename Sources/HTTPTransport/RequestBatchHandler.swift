package import HTTP2

/// The owner of a listener's requests: one per event loop, confined to it.
///
/// `receive` is called once per wakeup of a connection that completed requests, with all of them. The batch is borrowed:
/// a handler that answers later copies the bytes it needs. Answers may come at once or later from the same event loop,
/// in any order, each by `connection.respond`, and a `connection.flush()` after the last one of a round.
///
/// Every request of a batch wants exactly one answer. A request whose stream or connection has gone may still be
/// answered; the answer is dropped and counted.
package protocol RequestBatchHandler: AnyObject {
    /// Whether a connection's requests are taken, and under which terms. Called once, after the TLS handshake and before
    /// anything is read; `peerCertificate` is known by then. Not called on plain-text listeners.
    func admit(_ connection: HTTPConnection) -> HTTPAdmission

    /// Judges requests whose heads have come and whose bodies have not, at the end of the wakeup that brought the heads: each
    /// once. One that is answered now is not collected; of one that is let pass ``HTTPConnection/limitBody(of:to:)`` may bound
    /// the body. By default all pass, and come with their bodies by ``receive(_:from:)``.
    func judge(_ heads: borrowing RequestBatch, from connection: HTTPConnection)

    func receive(_ batch: borrowing RequestBatch, from connection: HTTPConnection)

    /// The connection has gone, and every stream on it. Called once, also for connections that never sent a request.
    func connectionClosed(_ connection: HTTPConnection)

    /// An unfinished stream was reset by the peer or by a limit. Not called for streams that ended well, nor for those
    /// that go with their connection.
    func streamClosed(_ streamID: Int32, on connection: HTTPConnection)

    /// A streamed response whose `write` said `.full` can take more.
    func streamWritable(_ streamID: Int32, on connection: HTTPConnection)
}

extension RequestBatchHandler {
    package func admit(_ connection: HTTPConnection) -> HTTPAdmission { .accepted(streamsMax: nil) }
    package func judge(_ heads: borrowing RequestBatch, from connection: HTTPConnection) {}
    package func streamClosed(_ streamID: Int32, on connection: HTTPConnection) {}
    package func streamWritable(_ streamID: Int32, on connection: HTTPConnection) {}
}
