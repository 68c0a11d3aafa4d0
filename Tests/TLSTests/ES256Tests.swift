import TLS
import TestSupport
import Testing

@Suite struct ES256Tests {
    /// RFC 6979 section A.2.5: the key as uncompressed point, and the SHA-256 signature of "sample" and of "test".
    private let rfcKey = PEMSource.text(
        pem(
            "PUBLIC KEY",
            hex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
                + hex("04")
                + hex("60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6")
                + hex("7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299")
        )
    )

    @Test(arguments: [
        (
            "sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
        ),
        (
            "test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
            "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
        ),
    ])
    func `the signatures of RFC 6979 A.2.5 are accepted`(message: String, r: String, s: String) throws {
        let key = try ES256PublicKey(pem: self.rfcKey)
        #expect(key.verify((hex(r) + hex(s)), Array(message.utf8)))
        #expect(!key.verify((hex(s) + hex(r)), Array(message.utf8)))
        #expect(!key.verify((hex(r) + hex(s)), Array((message + " ").utf8)))
    }

    @Test func `what a key signs its public half accepts, and no flipped bit is accepted`() throws {
        let key = try ES256PrivateKey.generate()
        let message = Array("header.claims".utf8)
        let signature = try key.sign(message)
        #expect(signature.count == 64)
        #expect(key.publicKey.verify(signature, message))
        for bit in 0..<512 {
            var tampered = signature
            tampered[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.publicKey.verify(tampered, message), "bit \(bit)")
        }
        for bit in 0..<(8 * message.count) {
            var tampered = message
            tampered[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.publicKey.verify(signature, tampered), "bit \(bit)")
        }
    }

    @Test func `signatures with short numbers survive the way through DER`() throws {
        let key = try ES256PrivateKey.generate()
        // One in 128 has a leading zero byte in R or S; 600 have several.
        for number in 0..<600 {
            let message = Array("message \(number)".utf8)
            #expect(key.publicKey.verify(try key.sign(message), message))
        }
    }

    @Test(arguments: [0, 1, 63, 65, 128])
    func `a signature of another length is refused`(length: Int) throws {
        let key = try ES256PrivateKey.generate().publicKey
        #expect(!key.verify([UInt8](repeating: 1, count: length), [1]))
    }

    @Test(arguments: [0, 0xFF] as [UInt8])
    func `the numbers nought and out of range are refused`(byte: UInt8) throws {
        let key = try ES256PrivateKey.generate().publicKey
        #expect(!key.verify([UInt8](repeating: byte, count: 64), [1]))
    }

    @Test func `another key's signature is refused`() throws {
        let signature = try ES256PrivateKey.generate().sign([1, 2, 3])
        #expect(try !ES256PrivateKey.generate().publicKey.verify(signature, [1, 2, 3]))
    }

    @Test func `keys come back from their PEM, and a public one is read from a private one`() throws {
        let key = try ES256PrivateKey.generate()
        let privatePEM = try key.pemRepresentation
        let publicPEM = try key.publicKey.pemRepresentation
        #expect(privatePEM.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(publicPEM.hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
        #expect(try ES256PrivateKey(pem: .text(privatePEM)).publicKey == key.publicKey)
        #expect(try ES256PublicKey(pem: .text(publicPEM)) == key.publicKey)
        #expect(try ES256PublicKey(pem: .text(privatePEM)) == key.publicKey)
        #expect(try ES256PublicKey(pem: .text(privatePEM)).pemRepresentation == publicPEM)
        #expect(try ES256PrivateKey.generate().publicKey != key.publicKey)
        #expect("\(key)" == "ES256PrivateKey")
    }

    @Test(arguments: [
        ("P-384", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], "on the curve secp384r1"),
        ("P-521", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"], "on the curve secp521r1"),
        (
            "secp256k1", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
            "on the curve secp256k1"
        ),
        ("Ed25519", ["genpkey", "-algorithm", "ED25519"], "of type ED25519"),
        ("RSA", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "of type RSA"),
    ])
    func `a key on another curve is refused by name`(name: String, command: [String], words: String) throws {
        let pem = try openssl(command).output
        for read in [
            { try ES256PublicKey(pem: .text(pem)) } as () throws -> Any, { try ES256PrivateKey(pem: .text(pem)) },
        ] {
            let error = #expect(throws: TLSError.self) { try read() }
            #expect(error?.code == .key)
            #expect(error?.message.hasSuffix(words) == true, "\(name): \(error?.message ?? "")")
        }
    }

    @Test func `faults of a PEM text are told apart`() throws {
        let key = try ES256PrivateKey.generate()
        let pem = try key.pemRepresentation
        let encrypted = try openssl(
            ["pkcs8", "-topk8", "-passout", "pass:secret", "-v2", "aes-128-cbc"],
            input: pem
        ).output
        let cases: [(PEMSource, String)] = [
            (.text(""), "private key (0 bytes in memory): no readable private key in it"),
            (.text("hello"), "private key (5 bytes in memory): no readable private key in it"),
            (.file("/nonexistent/AuthKey.p8"), "private key /nonexistent/AuthKey.p8: No such file or directory"),
            (
                .text(encrypted),
                "private key (\(encrypted.utf8.count) bytes in memory): the key is encrypted with a passphrase"
            ),
        ]
        for (source, message) in cases {
            let error = #expect(throws: TLSError.self) { try ES256PrivateKey(pem: source) }
            #expect(error?.message == message)
            #expect(error?.code == .configuration)
        }
    }

    @Test func `no damage of a PEM text gives another key`() throws {
        let seed: UInt64 = 0x5EED_E256
        var dice = SplitMix64(seed: seed)
        let key = try ES256PrivateKey.generate()
        for source in [try key.pemRepresentation, try key.publicKey.pemRepresentation] {
            for _ in 0..<300 {
                var bytes = Array(source.utf8)
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
                guard let read = try? ES256PublicKey(pem: .bytes(bytes)) else { continue }
                // A private key's text holds its public half as well; OpenSSL believes the text.
                if source.contains("PUBLIC") { #expect(read == key.publicKey, "seed \(seed)") }
            }
            for length in 0..<source.utf8.count - 30 {
                #expect(throws: TLSError.self) { try ES256PublicKey(pem: .bytes(Array(source.utf8.prefix(length)))) }
            }
        }
    }

    @Test func `openssl accepts our signature and we accept its`() throws {
        let key = try ES256PrivateKey.generate()
        let folder = try Scratch()
        let message = Array("judge".utf8)
        let keyPath = try folder.write("key.pem", Array(key.pemRepresentation.utf8))
        let messagePath = try folder.write("message", message)
        let signed = try openssl(["dgst", "-sha256", "-sign", keyPath, "-hex", messagePath]).output
        let der = hex(String(signed.split(separator: " ").last ?? "").trimmed)
        // Two integers, each 0x02, length, up to 33 bytes.
        let rEnd = 4 + Int(der[3])
        let raw = [der[4..<rEnd], der[(rEnd + 2)...]].flatMap { number in
            let digits = number.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
        #expect(key.publicKey.verify(raw, message))
    }
}
