#if JetStream
import CNATS
import FoundationEssentials
import Journaling

/// The brokers' addresses, and the credentials for them. Secrets stay in their files.
package struct BrokerAccess: Hashable, Sendable {
    /// As whom brokers are spoken to.
    package enum Credentials: Hashable, Sendable {
        /// Nothing is said; a client certificate may say it.
        case none
        /// A file with a user's JWT and the seed of its key, as `nsc` makes it.
        case file(String)
        /// A user's name, and the file with the password in its first line.
        case password(user: String, file: String)
        /// A user's public key, and the file with its seed.
        case nkey(String, seedFile: String)
    }

    /// PEM files of an encrypted connection.
    package struct TLS: Hashable, Sendable {
        /// The authorities by which brokers are believed; nil for the system's.
        package var authorities: String?
        package var certificate: String?
        /// The private key of ``certificate``.
        package var key: String?

        package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    /// Addresses, as `nats://127.0.0.1:4222`; one is enough, the others are found by it.
    package var servers: [String]
    package var credentials: Credentials
    /// Nil for connections that are not encrypted.
    package var tls: TLS?

    package init(servers: [String], credentials: Credentials = .none, tls: TLS? = nil) {
        self.servers = servers
        self.credentials = credentials
        self.tls = tls
    }
}

extension BrokerAccess {
    /// Makes a connection, which its owner destroys.
    ///
    /// - Throws: `.unavailable` if no broker answers, `.invalid` with what to change if they do not believe this one, or this one does
    ///   not believe them.
    func connect() throws(JournalError) -> OpaquePointer {
        var made: OpaquePointer?
        guard unsafe freshet_nats_options(&made) == NATS_OK, let options = unsafe made else {
            throw JournalError(.unavailable, "connection to the brokers: no memory")
        }
        // Sound: the connection has a copy of its own.
        defer { unsafe natsOptions_Destroy(options) }
        let status = unsafe Self.withStrings(self.servers) { pointers, count in
            unsafe natsOptions_SetServers(options, pointers, count)
        }
        guard status == NATS_OK else {
            throw JournalError(.invalid, "addresses of the brokers: \(Broker.text(status))")
        }
        try unsafe self.setCredentials(options)
        try unsafe self.setTLS(options)
        var connection: OpaquePointer?
        let result = unsafe natsConnection_Connect(&connection, options)
        guard result == NATS_OK, let connection = unsafe connection else { throw self.refusal(result) }
        return unsafe connection
    }

    private func setCredentials(_ options: OpaquePointer) throws(JournalError) {
        let (status, what): (natsStatus, String) =
            switch self.credentials {
            case .none: (NATS_OK, "")
            case .file(let file):
                (unsafe natsOptions_SetUserCredentialsFromFiles(options, file, nil), "credentials in \(file)")
            case .password(let user, let file):
                (unsafe natsOptions_SetUserInfo(options, user, try Self.firstLine(of: file)), "password in \(file)")
            case .nkey(let key, let file):
                (unsafe natsOptions_SetNKeyFromSeed(options, key, file), "key \(key) with its seed in \(file)")
            }
        guard status == NATS_OK else { throw JournalError(.invalid, "\(what): \(Broker.text(status))") }
    }

    private static func firstLine(of file: String) throws(JournalError) -> String {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8),
            let line = text.split(whereSeparator: \.isNewline).first
        else { throw JournalError(.invalid, "password in \(file): it cannot be read, or is empty") }
        return String(line)
    }

    private func setTLS(_ options: OpaquePointer) throws(JournalError) {
        guard let tls = self.tls else { return }
        var status = unsafe natsOptions_SetSecure(options, true)
        if status == NATS_OK, let file = tls.authorities {
            status = unsafe natsOptions_LoadCATrustedCertificates(options, file)
            guard status == NATS_OK else {
                throw JournalError(.invalid, "authorities in \(file): \(Self.text(status))")
            }
        }
        if status == NATS_OK, let file = tls.certificate, let key = tls.key {
            status = unsafe natsOptions_LoadCertificatesChain(options, file, key)
            guard status == NATS_OK else {
                throw JournalError(.invalid, "certificate in \(file) with its key in \(key): \(Self.text(status))")
            }
        }
        guard status == NATS_OK else { throw JournalError(.invalid, "TLS to the brokers: \(Self.text(status))") }
    }

    /// The status, and the library's last message on this thread.
    private static func text(_ status: natsStatus) -> String {
        // Sound: the library keeps the text until the thread's next call, and it is copied.
        let said = unsafe nats_GetLastError(nil).map { unsafe String(cString: $0) } ?? ""
        let text = Broker.text(status)
        return said.isEmpty ? text : "\(text) (\(said))"
    }

    /// Why there is no connection, and what to change.
    private func refusal(_ status: natsStatus) -> JournalError {
        let action = "connection to the brokers at \(self.servers.joined(separator: ", "))"
        let (code, remedy): (JournalError.Code, String) =
            switch status {
            case NATS_SSL_ERROR:
                (
                    .invalid,
                    "the brokers' certificate is not trusted, or they do not trust this gateway's; give the CA that issued "
                        + "theirs (ca), and a certificate if they ask for one"
                )
            case NATS_SECURE_CONNECTION_WANTED: (.invalid, "the brokers have no TLS; give them a `tls` block")
            case NATS_CONNECTION_AUTH_FAILED: (.invalid, "the brokers do not accept \(self.credentials)")
            case NATS_PROTOCOL_ERROR:
                // As those end a connection that ask for a certificate, and those that stop.
                (.unavailable, "the brokers closed the connection; if they ask for a certificate, give one")
            default: (.unavailable, "no broker answers")
            }
        return JournalError(code, "\(action): \(remedy): \(Self.text(status))")
    }

    private static func withStrings(
        _ strings: [String],
        _ body: (UnsafeMutablePointer<UnsafePointer<CChar>?>?, Int32) -> natsStatus
    ) -> natsStatus {
        let copies = unsafe strings.map { unsafe strdup($0) }
        defer { unsafe copies.forEach { unsafe free($0) } }
        var pointers = unsafe copies.map { unsafe UnsafePointer($0) }
        let count = Int32(strings.count)
        return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress, count) }
    }
}

extension BrokerAccess.Credentials: CustomStringConvertible {
    package var description: String {
        switch self {
        case .none: "a user without credentials"
        case .file(let file): "the user of \(file)"
        case .password(let user, _): "the user \(user) with that password"
        case .nkey(let key, _): "the key \(key)"
        }
    }
}
#endif
