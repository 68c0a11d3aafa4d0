import APNSWire
import HTTP2
package import HTTPTransport
import Serving

/// Connections of the push listener: their certificates, the consequences of their requests, and their end.
extension PushHandler {
    package func admit(_ connection: HTTPConnection) -> HTTPAdmission {
        guard self.role != .targetedPushes else { return self.others.admit(connection) }
        switch self.state(of: connection).certificate?.verdict {
        case .revoked?: return .refused(debug: Rejection.badCertificate.json)
        case .wrongEnvironment?: return .refused(debug: Rejection.badCertificateEnvironment.json)
        // A certificate that speaks for a sender is proof enough; a token has to be seen first.
        case .sender?: return .accepted(streamsMax: nil)
        case .unknown?, nil: return .accepted(streamsMax: self.services.apps.bounds.intake.streamsBeforeTokenMax)
        }
    }

    /// The remembered state of a connection; its client certificate is looked at once.
    func state(of connection: HTTPConnection) -> PushConnection {
        if let state = connection.context as? PushConnection { return state }
        let certificate = connection.peerCertificate.map { CertificateStanding($0, self.services.senders.certificates) }
        let state = PushConnection(certificate: certificate, refusedCredentials: connection.refusedCredentials)
        connection.context = state
        return state
    }

    /// Takes the consequences of the requests of a batch for their connection, and sends the answers that are there.
    ///
    /// - Parameter hasBodies: Whether they were requests, not heads of some.
    func endRound(of connection: HTTPConnection, _ state: PushConnection, hasBodies: Bool) {
        self.countVerifications()
        if self.role != .targetedPushes {
            self.announceStreamLimit(of: connection, state)
            // In order when it connected; the table has changed since.
            if hasBodies, let reason = state.certificate?.verdict.refusal {
                connection.goAway(.noError, debug: reason.json)
            }
        }
        connection.flush()
    }

    private func countVerifications() {
        let verifications = self.intake.judge.verifications
        guard verifications > self.verificationsTold else { return }
        self.services.counters.add(verified: verifications - self.verificationsTold)
        self.verificationsTold = verifications
    }

    package func connectionClosed(_ connection: HTTPConnection) {
        for bulk in self.bulks.filter({ $0.key.connection == connection.id }).values { bulk.end() }
        self.others.connectionClosed(connection)
    }

    package func streamClosed(_ streamID: Int32, on connection: HTTPConnection) {
        self.bulks[BulkKey(connection: connection.id, stream: streamID)]?.end()
        self.others.streamClosed(streamID, on: connection)
    }

    package func streamWritable(_ streamID: Int32, on connection: HTTPConnection) {
        self.bulks[BulkKey(connection: connection.id, stream: streamID)]?.becameWritable()
        self.others.streamWritable(streamID, on: connection)
    }
}

// MARK: - How many streams

/// How many streams a connection may have open, where apps ask for the manner of APNs.
///
/// Sources: Apple, "Sending notification requests to APNs" (one stream before the first good token) and "Handling
/// notification responses from APNs" (answers of 400 to 499 slow a connection down, 410 does not); how far is not
/// documented: 1 was seen.
extension PushHandler {
    /// The limit of a connection that was slowed down.
    private static let slowStreamsMax: UInt32 = 1

    /// Notes a refusal. The connection's sender says whether refusals slow it down.
    func slowDown(_ state: PushConnection, for answer: RejectionAnswer) {
        guard (400...499).contains(answer.status), answer.status != 410 else { return }
        if let sender = state.sender, sender.isSlowedByRefusals { state.isSlowed = true }
    }

    /// Announces the stream limit that follows from the requests of a batch.
    private func announceStreamLimit(of connection: HTTPConnection, _ state: PushConnection) {
        if state.isSlowed {
            connection.lowerStreamLimit(to: Self.slowStreamsMax)
        } else if state.sender != nil {
            connection.liftStreamLimit()
        }
        // A connection with a good token may have bad ones beside it, but not for ever.
        if state.sender == nil || connection.refusedCredentials.isExhausted { connection.paceByCredentials() }
    }
}
