import APNSWire
import Testing
import WidgetModel

@Suite struct ContentHashTests {
    private func hash(_ fixture: PushFixture, _ body: String = "{}") throws -> UInt64 {
        let bytes = fixture.received.bytes
        let body = Array(body.utf8)
        return try fixture.validate().contentHash(in: bytes.span, body: body.span)
    }

    @Test func `the hash is the same in every process`() throws {
        // Part of the log's format: a change of this number is a change of the format.
        #expect(try self.hash(.full, #"{"aps":{"content-changed":true}}"#) == 0xA6BE_ED96_26CC_3E0D)
    }

    @Test(
        arguments: [
            ("apns-priority", "10"), ("apns-priority", nil), ("apns-expiration", "1700000001"),
            ("apns-expiration", "0"),
            ("apns-expiration", nil), ("apns-collapse-id", "game-2"), ("apns-collapse-id", "game-11"),
            ("apns-collapse-id", nil),
        ] as [(String, String?)]
    )
    func `another header makes another push`(name: String, value: String?) throws {
        #expect(try self.hash(.full) != self.hash(PushFixture.full.with(name, value)))
    }

    @Test func `absent and zero are not the same`() throws {
        let full = PushFixture.full
        #expect(try self.hash(full.with("apns-expiration", "0")) != self.hash(full.with("apns-expiration", nil)))
    }

    @Test(arguments: [("", "\0"), ("1234567", "12345678"), ("12345678", "123456789"), ("ab", "ba")])
    func `another body makes another push`(first: String, second: String) throws {
        #expect(try self.hash(.full, first) != self.hash(.full, second))
    }

    @Test(
        arguments: [
            ("apns-id", "00000000-0000-0000-0000-000000000000"), ("authorization", "bearer x.y.z"),
            ("user-agent", "curl"), ("content-type", nil), ("apns-push-type", nil),
        ] as [(String, String?)]
    )
    func `what does not change the push does not change the hash`(name: String, value: String?) throws {
        #expect(try self.hash(.full) == self.hash(PushFixture.full.with(name, value)))
    }
}
