import COpenSSL

/// Everything that the sessions of one listener, or of one kind of outgoing connection, have in common.
///
/// Making one reads the files and checks that they fit together; afterwards nothing changes. To use new
/// certificates, make another context: sessions keep the one they began with.
///
/// Sendable because OpenSSL lets any number of threads make sessions from a context that is no longer configured
/// (its reference count and the ticket keys are locked or atomic inside).
///
/// Uses of `unsafe` without a word of their own pass `pointer`, which lives until `deinit`, or a Swift string or
/// array, which lives for the call and is copied by OpenSSL.
@safe package final class TLSContext: Sendable {
    package enum Role: Hashable, Sendable {
        case server
        case client
    }

    package let role: Role
    /// The context's own certificate; nil for a client without one.
    package let certificate: OwnCertificate?
    /// Owned; configured in `init` and only read afterwards.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// Borrowed by `pointer`'s callbacks.
    private let alpn: ALPNPolicy

    /// TLS 1.2 suites that HTTP/2 allows (RFC 9113 section 9.2.2): forward secrecy and AEAD, and of those the cheap
    /// ones first.
    private static let suites12 = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
        "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    ].joined(separator: ":")

    private static let suites13 = [
        "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_256_GCM_SHA384",
    ].joined(separator: ":")

    /// Key exchange on curves that cost a microsecond or so. OpenSSL's own list goes on to finite fields of 8192 bits, with
    /// which a stranger makes a server work for milliseconds (CVE-2002-20001).
    private static let groups = "X25519:P-256:P-384"

    package static func server(_ configuration: TLSServerConfiguration) throws(TLSError) -> TLSContext {
        let alpn = try ALPNPolicy(configuration.alpn, requiresOffer: configuration.missingALPN == .refuse)
        let identity = try LoadedIdentity(configuration.identity)
        let context = try TLSContext(.server, alpn, versions: configuration.versions, identity)
        unsafe alpn.install(onServer: context.pointer)
        try context.ask(for: configuration.clientCertificate)
        return context
    }

    package static func client(_ configuration: TLSClientConfiguration) throws(TLSError) -> TLSContext {
        let alpn = try ALPNPolicy(configuration.alpn, requiresOffer: false)
        let verifies = configuration.trust != .insecure
        let identity: LoadedIdentity?
        if let files = configuration.identity { identity = try LoadedIdentity(files) } else { identity = nil }
        let context = try TLSContext(.client, alpn, versions: configuration.versions, identity)
        unsafe try alpn.install(onClient: context.pointer)
        switch configuration.trust {
        case .system:
            guard unsafe SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
                throw .taking(.configuration, "cannot use the system's trust roots")
            }
        case .roots(let source): try context.trust(source)
        case .insecure: break
        }
        unsafe SSL_CTX_set_verify(context.pointer, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        return context
    }

    private init(
        _ role: Role,
        _ alpn: ALPNPolicy,
        versions: ClosedRange<TLSVersion>,
        _ identity: LoadedIdentity?
    ) throws(TLSError) {
        OpenSSLFault.clearQueue()
        guard let pointer = unsafe SSL_CTX_new(role == .server ? TLS_server_method() : TLS_client_method()) else {
            throw .taking(.internalFailure, "cannot make a TLS context")
        }
        self.role = role
        self.alpn = alpn
        unsafe self.pointer = pointer
        // Sound: the handle keeps the certificate alive for the call.
        self.certificate = identity.map { unsafe OwnCertificate(reading: $0.chain[0].pointer) }
        try self.setProtocol(versions)
        self.setBehaviour()
        if let identity { try self.setIdentity(identity) }
    }

    deinit {
        unsafe SSL_CTX_free(self.pointer)
    }

    private func setProtocol(_ versions: ClosedRange<TLSVersion>) throws(TLSError) {
        guard unsafe freshet_SSL_CTX_set_min_proto_version(self.pointer, versions.lowerBound.wireVersion) == 1,
            unsafe freshet_SSL_CTX_set_max_proto_version(self.pointer, versions.upperBound.wireVersion) == 1,
            unsafe SSL_CTX_set_cipher_list(self.pointer, Self.suites12) == 1,
            unsafe SSL_CTX_set_ciphersuites(self.pointer, Self.suites13) == 1,
            unsafe freshet_SSL_CTX_set1_groups_list(self.pointer, Self.groups) == 1
        else { throw .taking(.configuration, "cannot set TLS versions, cipher suites and groups") }
    }

    private func setBehaviour() {
        // Compression leaks secrets by length (CRIME), renegotiation is forbidden in HTTP/2 (RFC 9113 section 9.2.1).
        // Early data stays off, which is OpenSSL's default: a push must not be replayable.
        unsafe SSL_CTX_set_options(
            self.pointer,
            freshet_SSL_OP_NO_COMPRESSION | freshet_SSL_OP_NO_RENEGOTIATION | freshet_SSL_OP_CIPHER_SERVER_PREFERENCE
        )
        // Partial writes and moving buffers: the caller's bytes need not wait at the same address. Released buffers:
        // an idle session keeps no 16 KiB record buffers.
        _ = unsafe freshet_SSL_CTX_set_mode(
            self.pointer,
            Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS)
        )
        // Tickets are sealed with keys of the context's own, so that a new context is also the end of old tickets.
        // Senders come back with stateless tickets; a cache of sessions in memory would only cost. One ticket per
        // handshake is enough, since connections live for hours.
        _ = unsafe freshet_SSL_CTX_set_session_cache_mode(self.pointer, Int(SSL_SESS_CACHE_OFF))
        _ = unsafe SSL_CTX_set_num_tickets(self.pointer, 1)
    }

    /// Takes the certificate chain and the key.
    private func setIdentity(_ identity: LoadedIdentity) throws(TLSError) {
        // Sound in all of the following: OpenSSL counts its own references to certificates and key.
        guard unsafe SSL_CTX_use_certificate(self.pointer, identity.chain[0].pointer) == 1 else {
            throw .taking(.configuration, "certificate chain \(identity.files.certificateChain.name)")
        }
        guard unsafe SSL_CTX_use_PrivateKey(self.pointer, identity.key.pointer) == 1 else {
            throw .taking(.configuration, "private key \(identity.files.privateKey.name)")
        }
        for issuer in identity.chain.dropFirst() {
            guard unsafe freshet_SSL_CTX_add1_chain_cert(self.pointer, issuer.pointer) == 1 else {
                throw .taking(.configuration, "certificate chain \(identity.files.certificateChain.name)")
            }
        }
    }

    /// Believes peers that the certificates of `source` vouch for.
    private func trust(_ source: PEMSource) throws(TLSError) {
        let roots = try source.certificates("trust roots")
        // Sound: the store belongs to the context and counts its own references.
        let store = unsafe SSL_CTX_get_cert_store(self.pointer)
        for root in roots {
            guard unsafe X509_STORE_add_cert(store, root.pointer) == 1 else {
                throw .taking(.configuration, "trust roots \(source.name)")
            }
            // A server tells clients these names, so that they know which of their certificates to show.
            if self.role == .server, unsafe SSL_CTX_add_client_CA(self.pointer, root.pointer) != 1 {
                throw .taking(.configuration, "trust roots \(source.name)")
            }
        }
    }

    private func ask(for clientCertificate: TLSServerConfiguration.ClientCertificate) throws(TLSError) {
        switch clientCertificate {
        case .none:
            unsafe SSL_CTX_set_verify(self.pointer, SSL_VERIFY_NONE, nil)
        case .optional(let roots):
            try self.trust(roots)
            unsafe SSL_CTX_set_verify(self.pointer, SSL_VERIFY_PEER, nil)
        case .required(let roots):
            try self.trust(roots)
            unsafe SSL_CTX_set_verify(self.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        }
        // OpenSSL resumes no session with a client certificate unless the context has a name. Tickets are bound to
        // the context's own random keys anyway, so one name does for all.
        let name = Array("freshet".utf8)
        guard unsafe SSL_CTX_set_session_id_context(self.pointer, name, UInt32(name.count)) == 1 else {
            throw .taking(.internalFailure, "cannot name the TLS context")
        }
    }
}

/// A certificate chain and a key that belong together.
private struct LoadedIdentity {
    let files: TLSIdentity
    /// The own certificate first; never empty.
    let chain: [CertificateHandle]
    let key: KeyHandle

    init(_ files: TLSIdentity) throws(TLSError) {
        self.files = files
        self.chain = try files.certificateChain.certificates("certificate chain")
        self.key = try files.privateKey.privateKey("private key")
        // Sound: both handles are alive for the call.
        guard unsafe X509_check_private_key(self.chain[0].pointer, self.key.pointer) == 1 else {
            throw TLSError(
                .configuration,
                "private key \(files.privateKey.name): key does not match certificate \(files.certificateChain.name)",
                faults: OpenSSLFault.takeQueue()
            )
        }
    }
}

extension TLSVersion {
    fileprivate var wireVersion: Int32 {
        switch self {
        case .v1_2: return TLS1_2_VERSION
        case .v1_3: return TLS1_3_VERSION
        }
    }
}
