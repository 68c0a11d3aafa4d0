import Serving
import Settings
import TestSupport
import Testing
import Timelines
import WidgetModel

@Suite struct ProviderTextTests {
    @Test(
        arguments: [
            ("https://widgets.example.com", "https://widgets.example.com/"),
            ("https://widgets.example.com/t?x=1", "https://widgets.example.com/t?x=1"),
            ("https://widgets.example.com:8443/a/b", "https://widgets.example.com:8443/a/b"),
            ("https://widgets.example.com:443/", "https://widgets.example.com/"),
            ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443/"),
            ("https://widgets.example.com?x", "https://widgets.example.com/?x"),
            ("http://127.0.0.1:8080/timelines", "http://127.0.0.1:8080/timelines"),
            ("http://[::1]/", "http://[::1]/"), ("http://localhost:80/", "http://localhost/"),
        ]
    )
    func `a URL is taken apart and put together`(text: String, whole: String) throws {
        #expect(ProviderURL(text)?.description == whole)
    }

    @Test(
        arguments: [
            "", "https://", "ftp://example.com", "http://example.com/", "http://127.0.0.2/", "https://a:0/",
            "https://a:65536/",
            "https://a:x/", "https://user@example.com/", "https://example.com/#top", "https://exa mple.com/",
            "https://[::1",
            "https://:443/", "//example.com", "example.com",
        ]
    )
    func `what is no URL of a provider is refused`(text: String) {
        #expect(ProviderURL(text) == nil)
    }

    @Test func `findings are counted, the last are kept, and each is told once`() {
        var findings = KindFindings()
        #expect(findings.takeHeader() == nil)
        let address = InstanceAddress(host: HostKey("a"), instance: InstanceID("b"))
        findings.noteFindings([.empty, .neverReloaded], of: address, at: Sports.start)
        findings.noteFindings([.empty], of: address, at: Sports.start)
        #expect(findings.takeHeader() == "empty=2, neverReloaded=1")
        #expect(findings.takeHeader() == nil)
        for _ in 0..<40 { findings.noteFindings([.outOfOrder(index: 1)], of: address, at: Sports.start) }
        #expect(findings.recent.count == KindFindings.recentMax)
        #expect(findings.counts.map(\.count) == [2, 1, 40])
        #expect(findings.takeHeader() == "outOfOrder=40")
    }
}
