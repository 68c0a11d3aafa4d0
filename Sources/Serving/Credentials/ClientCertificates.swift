import Synchronization
package import TLS
package import WidgetModel

/// The table of client certificates that is in force, for all event loops; replaced whole while the gateway runs.
package final class ClientCertificates: Sendable {
    private struct State {
        var table: ClientCertificateTable
        /// How many tables there were before.
        var changes = 0
        /// Earlier verdicts, by fingerprint: a certificate's rate is one over all its connections and all tables.
        var judged: [[UInt8]: (verdict: ClientCertificateTable.Verdict, changes: Int)] = [:]
        /// Why the revocation list as it is now was not taken; nil if it was.
        var refusal: String?
    }

    /// The revocations, for operators.
    package struct Revocations: Hashable, Sendable {
        /// How many certificates are revoked.
        package let count: Int
        /// When the first of the lists should have been renewed; nil if none says so.
        package let nextUpdate: Instant?
        /// Why the file as it is now was not taken; nil if it was.
        package let refusal: String?
    }

    /// Verdicts that are remembered; more forgets them all.
    private static let judgedMax = 10_000

    private let state: Mutex<State>
    private let number = Atomic<UInt64>(1)

    package init(_ table: ClientCertificateTable = ClientCertificateTable()) {
        self.state = Mutex(State(table: table))
    }

    /// Grows with every change: a certificate that was judged under a lower one has to be judged again. Never 0.
    package var generation: UInt64 { self.number.load(ordering: .acquiring) }

    /// Judges a certificate under the table in force.
    package func judge(_ certificate: PeerCertificate) -> ClientCertificateTable.Verdict {
        self.state.withLock { state in
            let known = state.judged[certificate.sha256Fingerprint]
            if let known, known.changes == state.changes { return known.verdict }
            let verdict = state.table.judge(certificate, before: known?.verdict.sender?.meter)
            if state.judged.count >= Self.judgedMax { state.judged = [:] }
            state.judged[certificate.sha256Fingerprint] = (verdict, state.changes)
            return verdict
        }
    }

    /// Whether a certificate is no longer believed, for any sender.
    package func isRevoked(_ certificate: PeerCertificate) -> Bool {
        self.state.withLock { $0.table.revocations }.contains(certificate)
    }

    /// A digest of the present revocations.
    var revocationDigest: UInt64 { self.state.withLock { $0.table.revocations }.digest }

    /// The present revocations.
    package var revocations: Revocations {
        self.state.withLock { state in
            let list = state.table.revocations
            return Revocations(
                count: list.count,
                nextUpdate: list.nextUpdateSeconds.map { Instant(seconds: $0) },
                refusal: state.refusal
            )
        }
    }

    /// Puts another revocation list in force.
    ///
    /// - Throws: Why `read` gave none; the list before it stays.
    package func revoke(_ read: () throws -> RevocationList) throws -> RevocationList {
        do {
            let list = try read()
            self.replace { $0.revoking(list) }
            return list
        } catch {
            self.state.withLock { $0.refusal = "\(error)" }
            throw error
        }
    }

    /// Puts the table in force that `change` makes.
    package func replace(_ change: (ClientCertificateTable) -> ClientCertificateTable) {
        self.state.withLock { state in
            state.table = change(state.table)
            state.changes += 1
            state.refusal = nil
        }
        self.number.add(1, ordering: .acquiringAndReleasing)
    }
}
