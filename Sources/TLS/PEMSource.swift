import COpenSSL

/// Where a PEM text comes from.
package enum PEMSource: Hashable, Sendable, CustomStringConvertible {
    /// A file, read when the configuration is put to use.
    case file(String)
    case bytes([UInt8])

    /// A PEM text in memory.
    package static func text(_ text: String) -> PEMSource {
        .bytes(Array(text.utf8))
    }

    /// How error messages call the source: the file's name, never the contents.
    package var name: String {
        switch self {
        case .file(let path): return path
        case .bytes(let bytes): return "(\(bytes.count) bytes in memory)"
        }
    }

    package var description: String { self.name }

    /// The text, open for OpenSSL. `what` names it in errors, such as "certificate chain".
    func open(_ what: String) throws(TLSError) -> BIOHandle {
        OpenSSLFault.clearQueue()
        switch self {
        case .file(let path):
            // Sound: Swift keeps both strings alive for the call, and OpenSSL copies them.
            guard let file = unsafe BIO_new_file(path, "r") else { throw .unreadable(what, self) }
            return unsafe BIOHandle(owning: file)
        case .bytes(let bytes):
            let bio = try BIOHandle.memory()
            guard bytes.count < Int(Int32.max) else { throw TLSError(.configuration, "\(what) is too long") }
            // Sound: OpenSSL copies the bytes during the call.
            let written = unsafe bytes.withUnsafeBytes {
                unsafe BIO_write(bio.pointer, $0.baseAddress, Int32($0.count))
            }
            guard bytes.isEmpty || Int(written) == bytes.count else {
                throw .taking(.internalFailure, "cannot copy the \(what)")
            }
            return bio
        }
    }

    /// All certificates of the text, in its order; at least one.
    func certificates(_ what: String) throws(TLSError) -> [CertificateHandle] {
        let bio = try self.open(what)
        var found: [CertificateHandle] = []
        // Sound: the text is open for as long as `bio` lives; each certificate gets its one owner at once.
        while let certificate = unsafe PEM_read_bio_X509(bio.pointer, nil, refusePassphrase, nil) {
            unsafe found.append(CertificateHandle(owning: certificate))
        }
        let faults = OpenSSLFault.takeQueue()
        // The end of the text is told as "no start line"; anything else is damage behind the last good one.
        let atEnd = faults.last?.meansNothingFound == true
        if found.isEmpty || !atEnd {
            let reason = atEnd ? "no BEGIN CERTIFICATE line" : faults.first?.description ?? "damaged"
            throw TLSError(.configuration, "\(what) \(self.name): \(reason)", faults: faults)
        }
        return found
    }

    /// The private key of the text.
    func privateKey(_ what: String) throws(TLSError) -> KeyHandle {
        let bio = try self.open(what)
        // Sound: as above; the key gets its one owner at once.
        guard let key = unsafe PEM_read_bio_PrivateKey(bio.pointer, nil, refusePassphrase, nil) else {
            throw .badKey(what, self)
        }
        return unsafe KeyHandle(owning: key)
    }
}

/// OpenSSL's own callback would ask on the terminal; a server has none, so an encrypted key is an error.
func refusePassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: Int32,
    _ isWriting: Int32,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}

extension TLSError {
    /// A source that cannot be opened, with the operating system's reason.
    fileprivate static func unreadable(_ what: String, _ source: PEMSource) -> TLSError {
        let faults = OpenSSLFault.takeQueue()
        let reason = faults.first { $0.isSystemError }?.reason ?? faults.first?.reason ?? "cannot be opened"
        return TLSError(.configuration, "\(what) \(source.name): \(reason)", faults: faults)
    }

    /// A source without a usable private key.
    fileprivate static func badKey(_ what: String, _ source: PEMSource) -> TLSError {
        let faults = OpenSSLFault.takeQueue()
        let codes = faults.map(\.reasonCode)
        let reason: String
        if codes.contains(PEM_R_BAD_PASSWORD_READ) || codes.contains(PEM_R_PROBLEMS_GETTING_PASSWORD) {
            reason = "the key is encrypted with a passphrase"
        } else if faults.allSatisfy(\.meansNothingFound) {
            reason = "no readable private key in it"
        } else {
            reason = faults.first { !$0.meansNothingFound }?.description ?? ""
        }
        return TLSError(.configuration, "\(what) \(source.name): \(reason)", faults: faults)
    }
}
