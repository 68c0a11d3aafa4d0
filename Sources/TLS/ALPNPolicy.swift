import COpenSSL

/// The protocols of a context in wire form (RFC 7301 section 3.1), at an address that stays.
///
/// OpenSSL's callbacks get this object as their argument, unretained: the context that registers it keeps it alive, and
/// every session keeps its context alive. It holds nothing else, so that a callback cannot reach a session.
///
/// Sendable because nothing changes after `init`.
@safe final class ALPNPolicy: Sendable {
    /// Length-prefixed names; owned.
    nonisolated(unsafe) private let wire: UnsafeMutableBufferPointer<UInt8>
    private let requiresOffer: Bool

    init(_ protocols: [String], requiresOffer: Bool) throws(TLSError) {
        var bytes: [UInt8] = []
        for name in protocols {
            guard (1...255).contains(name.utf8.count) else {
                throw TLSError(.configuration, "ALPN protocol \"\(name)\" is not 1 to 255 bytes long")
            }
            bytes.append(UInt8(name.utf8.count))
            bytes.append(contentsOf: name.utf8)
        }
        guard bytes.count <= Int(UInt16.max) else { throw TLSError(.configuration, "too many ALPN protocols") }
        let wire = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe wire.initialize(fromContentsOf: bytes)
        unsafe self.wire = wire
        self.requiresOffer = requiresOffer
    }

    deinit {
        unsafe self.wire.deallocate()
    }

    /// Makes a server choose from the list. Precondition: the caller keeps `self` alive as long as `context`.
    func install(onServer context: OpaquePointer) {
        guard unsafe !self.wire.isEmpty else { return }
        let argument = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenLength, offered, offeredLength, argument in
                guard let chosen = unsafe chosen, let chosenLength = unsafe chosenLength,
                    let offered = unsafe offered, let argument = unsafe argument
                else { preconditionFailure("OpenSSL calls the ALPN callback with all its arguments") }
                // Sound: `argument` is the policy installed above, alive as long as the context.
                return unsafe Unmanaged<ALPNPolicy>.fromOpaque(argument)._withUnsafeGuaranteedRef {
                    unsafe $0.select(
                        chosen,
                        chosenLength,
                        UnsafeBufferPointer(start: offered, count: Int(offeredLength))
                    )
                }
            },
            argument
        )
        guard self.requiresOffer else { return }
        // The ALPN callback is not called for a client without the extension, so its absence is looked for here.
        unsafe SSL_CTX_set_client_hello_cb(
            context,
            { session, alert, _ in
                var bytes: UnsafePointer<UInt8>?
                var length = 0
                // Sound: both out-pointers live for the call; the extension's bytes are not looked at.
                let found = unsafe SSL_client_hello_get0_ext(
                    session,
                    UInt32(TLSEXT_TYPE_application_layer_protocol_negotiation),
                    &bytes,
                    &length
                )
                guard found == 0 else { return SSL_CLIENT_HELLO_SUCCESS }
                unsafe alert?.pointee = SSL_AD_NO_APPLICATION_PROTOCOL
                return SSL_CLIENT_HELLO_ERROR
            },
            nil
        )
    }

    /// Makes a client offer the list.
    func install(onClient context: OpaquePointer) throws(TLSError) {
        guard unsafe !self.wire.isEmpty else { return }
        // Sound: OpenSSL copies the list. Unlike its neighbours this function returns 0 for success.
        guard unsafe SSL_CTX_set_alpn_protos(context, self.wire.baseAddress, UInt32(self.wire.count)) == 0 else {
            throw .taking(.internalFailure, "cannot set the ALPN protocols")
        }
    }

    /// The first protocol of ours that the client offers, or the end of the handshake.
    private func select(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
        _ chosenLength: UnsafeMutablePointer<UInt8>,
        _ offered: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        var place: UnsafeMutablePointer<UInt8>?
        // Sound: `place` comes to point into `wire`, which lives as long as the context.
        let result = unsafe SSL_select_next_proto(
            &place,
            chosenLength,
            self.wire.baseAddress,
            UInt32(self.wire.count),
            offered.baseAddress,
            UInt32(offered.count)
        )
        guard result == OPENSSL_NPN_NEGOTIATED, let place = unsafe place else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        unsafe chosen.pointee = UnsafePointer(place)
        return SSL_TLSEXT_ERR_OK
    }
}
