import TLS
import Testing

@Suite struct DigestTests {
    /// FIPS 180-2 appendix B, and the empty message.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives the published digests`(message: String, digest: String) {
        #expect(Digests.sha256(Array(message.utf8)) == hex(digest))
    }

    /// RFC 4231 sections 4.2, 4.3 and 4.7.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        ([], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
    func `HMAC-SHA256 gives the published codes`(key: [UInt8], message: String, code: String) {
        #expect(Digests.hmacSHA256(key, Array(message.utf8)) == hex(code))
    }

    @Test func `bytes are equal if all are`() {
        #expect(Digests.equal([1, 2, 3], [1, 2, 3]))
        #expect(Digests.equal([UInt8](), [UInt8]()))
        #expect(!Digests.equal([1, 2, 3], [1, 2, 4]))
        #expect(!Digests.equal([1, 2, 3], [1, 2]))
    }

    @Test func `random bytes have the asked length and do not repeat`() {
        #expect(secureRandom(count: 0) == [])
        #expect(secureRandom(count: 33).count == 33)
        #expect(secureRandom(count: 32) != secureRandom(count: 32))
    }
}
