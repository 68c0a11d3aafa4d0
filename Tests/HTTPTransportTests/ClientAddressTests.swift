import NIOCore
import Testing

@testable import HTTPTransport

@Suite struct ClientAddressTests {
    @Test(arguments: [
        ("https://push.example", "https://push.example", "/"),
        ("HTTPS://Push.Example/3/device/aa?x=1", "https://push.example", "/3/device/aa?x=1"),
        ("https://push.example:2197/", "https://push.example:2197", "/"),
        ("https://push.example?x", "https://push.example", "/?x"),
        ("https://[::1]:8443/a", "https://[::1]:8443", "/a"),
        ("https://127.0.0.1:443/a", "https://127.0.0.1", "/a"),
    ])
    func `a URL is an origin and a path`(url: String, origin: String, path: String) {
        let parsed = HTTPOrigin.parse(url)
        #expect(parsed?.origin.description == origin)
        #expect(parsed?.path == path)
    }

    @Test(arguments: [
        "http://push.example", "https://", "https://user@push.example/", "https://push.example/#part",
        "https://push.example:0/", "https://push.example:65536/", "https://push.example:+1/", "https://a b/",
        "https://push.example/a b", "https://[::1/", "https://[push]/", "https:///path", "push.example", "https://ä/",
        "https://push.example:/", "https://::1/",
    ])
    func `what is no plain https URL is refused`(url: String) {
        #expect(HTTPOrigin.parse(url)?.origin == nil)
    }

    @Test(arguments: [
        "10.0.0.1", "10.255.255.255", "127.0.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1",
        "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00::1", "fc00::1",
        "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2001:db8::1",
    ])
    func `addresses that only this machine or its network reaches are refused`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(HTTPAddressRule.publicOnly(allowed: []).refusal(of: address) != nil)
        #expect(HTTPAddressRule.any.refusal(of: address) == nil)
    }

    @Test(arguments: [
        "9.255.255.255", "11.0.0.0", "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.167.255.255",
        "192.169.0.0", "100.63.255.255", "100.128.0.0", "17.57.144.1", "2606:4700::1111", "64:ff9b::17.0.0.1",
        "::ffff:17.0.0.1",
    ])
    func `public addresses are not`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(HTTPAddressRule.publicOnly(allowed: []).refusal(of: address) == nil)
    }

    @Test func `an allowed network is let through, and what lies beside it is not`() throws {
        let rule = HTTPAddressRule.publicOnly(allowed: [
            try #require(IPNetwork("10.1.0.0/16")), try #require(IPNetwork("fd12::/20")),
            try #require(IPNetwork("127.0.0.1")),
        ])
        let refused = try ["10.1.255.255", "10.2.0.0", "fd12:fff::1", "fd12:1000::1", "127.0.0.1", "127.0.0.2"].map {
            rule.refusal(of: try #require(IPAddress($0))) != nil
        }
        #expect(refused == [false, true, false, true, false, true])
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4/33", "::/129", "1::2::3", ":::", "12345::", "1:2",
        "1.2.3.4/", "1.2.3.4/x", "/8", "g::",
    ])
    func `what is no network is no network`(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    @Test func `a PING goes out after a silence, and a second silence is the end`() {
        var configuration = HTTP2ClientConfiguration()
        configuration.pingAfterSilence = .seconds(10)
        configuration.pingWhenIdle = .hours(1)
        configuration.pingTimeout = .seconds(5)
        let start = NIODeadline.uptimeNanoseconds(0)
        var liveness = Liveness(configuration, now: start)
        #expect(liveness.nextLook(hasRequests: false) == start + .hours(1))
        liveness.began(at: start + .seconds(100))
        #expect(liveness.look(at: start + .milliseconds(109_999), hasRequests: true) == .later)
        #expect(liveness.look(at: start + .seconds(110), hasRequests: true) == .ping)
        #expect(liveness.look(at: start + .milliseconds(114_999), hasRequests: true) == .later)
        var silent = liveness
        #expect(silent.look(at: start + .seconds(115), hasRequests: true) == .isGone)
        let wasAwaited = [liveness.heard(at: start + .seconds(112)), liveness.heard(at: start + .seconds(112))]
        #expect(wasAwaited == [true, false])
        #expect(liveness.look(at: start + .seconds(115), hasRequests: true) == .later)
        #expect(liveness.nextLook(hasRequests: true) == start + .seconds(122))
    }
}
