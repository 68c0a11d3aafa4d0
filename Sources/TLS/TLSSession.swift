import COpenSSL

/// One TLS connection without its socket: ciphertext in, plaintext out, and the other way round.
///
/// ```
///   socket --> receive(_:)          readPlaintext(into:) --> HTTP/2
///   socket <-- drain(into:)                   write(_:)  <-- HTTP/2
/// ```
///
/// After every call, look at ``pendingCiphertextBytes``: a handshake, an alert, a key update or a ticket may have put
/// bytes there, also when the call threw. Everything that is received must be read until ``TLSProgress`` says
/// `needsMoreCiphertext`, else it waits here. Neither direction has a limit of its own: the caller stops receiving while
/// it cannot send, and stops writing while ciphertext is pending.
///
/// Not Sendable: a session belongs to the one thread that calls it.
///
/// Uses of `unsafe` without a word of their own pass `pointer`, which lives until `deinit`, or narrow the caller's
/// buffer to the part that is still to be done.
@safe package final class TLSSession {
    package let context: TLSContext
    package private(set) var state: TLSState = .handshaking
    /// True once the peer's close_notify has been read.
    package private(set) var peerHasClosed = false

    /// Owned.
    let pointer: OpaquePointer
    /// Ciphertext from the peer; shared with `pointer`.
    private let inbound: BIOHandle
    /// Ciphertext for the peer; shared with `pointer`.
    private let outbound: BIOHandle
    /// The bytes of each of them that an idle session keeps: enough for the small messages of a connection with little
    /// to do.
    private static let idleBufferBytes = 4096
    /// The bytes that a busy session keeps: as many as come and go at a time. Giving back a buffer that the next bytes
    /// need again costs more than decrypting them.
    private static let busyBufferBytes = 262_144
    /// Whether bytes came or went since ``releaseIdleMemory()`` was last called.
    private var isBusy = false
    /// The error that ended the session; every later call that could have moved it throws the same again.
    private var failure: TLSError?
    /// The first bytes of a peer that does not speak TLS.
    private var opening = Opening()

    /// The server's side of a new connection.
    package static func server(_ context: TLSContext) throws(TLSError) -> TLSSession {
        precondition(context.role == .server, "a server's session needs a server's context")
        let session = try TLSSession(context)
        unsafe SSL_set_accept_state(session.pointer)
        return session
    }

    /// The client's side of a new connection; its first message is pending at once.
    ///
    /// - Parameter serverName: A host name or an IP address, which the server's certificate must be for. A host
    ///   name is also sent to the server (SNI, RFC 6066 section 3: never for an address).
    package static func client(_ context: TLSContext, serverName: String) throws(TLSError) -> TLSSession {
        precondition(context.role == .client, "a client's session needs a client's context")
        let session = try TLSSession(context)
        try session.expect(serverName)
        unsafe SSL_set_connect_state(session.pointer)
        try session.advanceHandshake()
        return session
    }

    private init(_ context: TLSContext) throws(TLSError) {
        OpenSSLFault.clearQueue()
        let inbound = try BIOHandle.memory()
        let outbound = try BIOHandle.memory()
        guard let pointer = unsafe SSL_new(context.pointer) else {
            throw .taking(.internalFailure, "cannot make a TLS session")
        }
        // Sound: the session takes over one reference to each BIO, which is made for it here; the handles keep theirs.
        _ = unsafe BIO_up_ref(inbound.pointer)
        _ = unsafe BIO_up_ref(outbound.pointer)
        unsafe SSL_set_bio(pointer, inbound.pointer, outbound.pointer)
        self.context = context
        unsafe self.pointer = pointer
        self.inbound = inbound
        self.outbound = outbound
    }

    deinit {
        unsafe SSL_free(self.pointer)
    }

    /// The protocol chosen by ALPN; nil before the handshake is complete, or if none was chosen.
    package var negotiatedProtocol: String? {
        guard self.state != .handshaking else { return nil }
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        // Sound: the name belongs to the session and is copied into the String.
        unsafe SSL_get0_alpn_selected(self.pointer, &name, &length)
        guard let name = unsafe name, length > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// The version and the suite in use, such as `TLSv1.3 TLS_AES_128_GCM_SHA256`, for logs.
    package var cipherDescription: String {
        // Sound: both strings are static tables of OpenSSL.
        let version = unsafe SSL_get_version(self.pointer).map { unsafe String(cString: $0) } ?? ""
        let suite = unsafe SSL_CIPHER_get_name(SSL_get_current_cipher(self.pointer))
        return "\(version) \(unsafe suite.map { unsafe String(cString: $0) } ?? "")"
    }

    // MARK: From the peer

    /// Takes bytes that arrived from the peer and goes on with the handshake as far as they allow.
    ///
    /// - Throws: The error that ended the handshake. An alert for the peer is pending then: drain it before closing the
    ///   socket.
    package func receive(_ ciphertext: UnsafeRawBufferPointer) throws(TLSError) {
        if let failure = self.failure { throw failure }
        // Bytes behind a close_notify are to be ignored (RFC 8446 section 6.1), and would only pile up here.
        if self.peerHasClosed { return }
        if self.state == .handshaking { unsafe self.opening.keepFirst(ciphertext) }
        self.isBusy = true
        OpenSSLFault.clearQueue()
        var rest = unsafe ciphertext
        while unsafe !rest.isEmpty {
            let count = min(rest.count, Int(Int32.max))
            // Sound: OpenSSL copies the bytes, which the caller keeps for the call.
            guard unsafe BIO_write(self.inbound.pointer, rest.baseAddress, Int32(count)) == Int32(count) else {
                throw self.fail(.taking(.internalFailure, "cannot keep received bytes"))
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        if self.state == .handshaking { try self.advanceHandshake() }
    }

    /// Tells that the peer's side of the socket has ended: a read after the last plaintext gives `closedCleanly`, or an
    /// error with the code `truncated` if the peer did not send close_notify.
    package func receiveEnd() throws(TLSError) {
        if let failure = self.failure { throw failure }
        _ = unsafe freshet_BIO_set_mem_eof_return(self.inbound.pointer, 0)
        if self.state == .handshaking { try self.advanceHandshake() }
    }

    /// Writes plaintext to the start of `buffer`, at most one TLS record's (16 KiB) at a time.
    ///
    /// Precondition: the buffer is not empty.
    package func readPlaintext(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> TLSProgress {
        precondition(unsafe !buffer.isEmpty, "plaintext needs room")
        if let failure = self.failure { throw failure }
        if self.peerHasClosed { return .closedCleanly }
        if self.state == .handshaking { return .needsMoreCiphertext }
        OpenSSLFault.clearQueue()
        var count = 0
        // Sound: OpenSSL writes at most `buffer.count` bytes during the call.
        let result = unsafe SSL_read_ex(self.pointer, buffer.baseAddress, buffer.count, &count)
        if result == 1 { return .bytes(count) }
        switch unsafe SSL_get_error(self.pointer, result) {
        case SSL_ERROR_WANT_READ:
            self.inbound.releaseMemory(above: Self.busyBufferBytes)
            return .needsMoreCiphertext
        case SSL_ERROR_ZERO_RETURN:
            self.peerHasClosed = true
            return .closedCleanly
        default: throw self.fail(self.error(duringHandshake: false))
        }
    }

    // MARK: To the peer

    /// Encrypts all of `plaintext`; the result is pending then. Whole records of 16 KiB are cheapest.
    package func write(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        if let failure = self.failure { throw failure }
        guard self.state == .ready else {
            throw TLSError(.state, "cannot write: the TLS session is \(self.state)")
        }
        self.isBusy = true
        OpenSSLFault.clearQueue()
        var rest = unsafe plaintext
        while unsafe !rest.isEmpty {
            var count = 0
            // Sound: OpenSSL reads at most `rest.count` bytes during the call. The memory BIO takes every record
            // whole, so no call asks to be repeated with the same bytes.
            guard unsafe SSL_write_ex(self.pointer, rest.baseAddress, rest.count, &count) == 1 else {
                throw self.fail(self.error(duringHandshake: false))
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Says close_notify to the peer, once; nothing can be written afterwards. The peer's last bytes can be read.
    package func shutdown() {
        guard self.state == .ready else {
            // Before the handshake is complete there is nothing to say, and nothing more to expect.
            if self.state == .handshaking {
                _ = self.fail(TLSError(.state, "the TLS session was closed during the handshake"))
            }
            return
        }
        self.state = .closed
        OpenSSLFault.clearQueue()
        // Whether the peer has already answered is told by reading; a failure here leaves nothing to do.
        _ = unsafe SSL_shutdown(self.pointer)
        OpenSSLFault.clearQueue()
    }

    /// How many bytes wait to be sent to the peer.
    package var pendingCiphertextBytes: Int {
        self.outbound.pendingBytes
    }

    /// Moves pending ciphertext to the start of `buffer` and returns how many bytes that were; 0 if none is pending.
    package func drain(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        // Sound: OpenSSL writes at most the buffer's count. An empty memory BIO answers -1.
        let count = unsafe BIO_read(self.outbound.pointer, buffer.baseAddress, Int32(clamping: buffer.count))
        if self.outbound.pendingBytes == 0 { self.outbound.releaseMemory(above: Self.busyBufferBytes) }
        return Int(max(0, count))
    }

    /// Gives the memory of the last burst back if nothing came or went since the call before. To be called now and then:
    /// once a second is often enough.
    package func releaseIdleMemory() {
        defer { self.isBusy = false }
        guard !self.isBusy else { return }
        self.inbound.releaseMemory(above: Self.idleBufferBytes)
        self.outbound.releaseMemory(above: Self.idleBufferBytes)
    }

    /// How many bytes of memory the session holds for ciphertext.
    package var heldCiphertextBytes: Int { self.inbound.heldBytes + self.outbound.heldBytes }
}

// MARK: - Handshake

extension TLSSession {
    /// Goes on with the handshake as far as the received bytes allow.
    private func advanceHandshake() throws(TLSError) {
        OpenSSLFault.clearQueue()
        let result = unsafe SSL_do_handshake(self.pointer)
        if result == 1 {
            try self.refuseExpiredResumption()
            self.state = .ready
            return
        }
        guard unsafe SSL_get_error(self.pointer, result) != SSL_ERROR_WANT_READ else { return }
        throw self.fail(self.error(duringHandshake: true))
    }

    /// A resumed session shows a certificate that was verified when the ticket was made; it may have expired since.
    private func refuseExpiredResumption() throws(TLSError) {
        guard unsafe SSL_session_reused(self.pointer) == 1,
            let certificate = unsafe SSL_get0_peer_certificate(self.pointer),
            unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0
        else { return }
        throw self.fail(
            TLSError(.peerCertificate, "peer's certificate refused: it has expired since the ticket was made")
        )
    }

    /// Sets the name that the server must prove, and tells the server which one that is.
    private func expect(_ serverName: String) throws(TLSError) {
        OpenSSLFault.clearQueue()
        // An empty name would switch the check off.
        guard !serverName.isEmpty else { throw TLSError(.configuration, "a server's name is empty") }
        // Sound: the parameters belong to the session; Swift keeps the string alive for each call, OpenSSL copies it.
        // A context that believes any peer makes the same checks and lets them fail.
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(self.pointer), serverName) == 1 { return }
        OpenSSLFault.clearQueue()
        unsafe SSL_set_hostflags(self.pointer, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        guard unsafe SSL_set1_host(self.pointer, serverName) == 1,
            unsafe freshet_SSL_set_tlsext_host_name(self.pointer, serverName) == 1
        else { throw .taking(.configuration, "cannot use \"\(serverName)\" as a server's name") }
    }

    /// Notes the error that ended the session, so that later calls throw the same.
    private func fail(_ error: TLSError) -> TLSError {
        self.failure = error
        self.state = .closed
        return error
    }

    private func error(duringHandshake: Bool) -> TLSError {
        let verification = unsafe Int32(SSL_get_verify_result(self.pointer))
        return .session(
            OpenSSLFault.takeQueue(),
            verification: verification,
            opening: duringHandshake ? self.opening : Opening(),
            duringHandshake: duringHandshake
        )
    }
}
