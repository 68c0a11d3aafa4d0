import TLS

// `#expect` cannot look into a call that takes a span, so the tests say the same with arrays.

extension ES256PublicKey {
    func verify(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
        self.verify(signature: signature.span, message: message.span)
    }
}

extension ES256PrivateKey {
    func sign(_ message: [UInt8]) throws -> [UInt8] {
        try self.sign(message.span)
    }
}

extension Digests {
    static func sha256(_ message: [UInt8]) -> [UInt8] {
        self.sha256(message.span)
    }

    static func hmacSHA256(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        self.hmacSHA256(key: key.span, message: message.span)
    }

    static func equal(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        self.constantTimeEqual(first.span, second.span)
    }
}
