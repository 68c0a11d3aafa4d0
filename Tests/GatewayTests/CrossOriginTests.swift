import Gateway
import HTTPTransport
import Testing
import WidgetModel

@Suite struct CrossOriginTests {
    private static let page = "https://widgets.example.com"

    private static func preflight(_ method: String = "OPTIONS", asks: Bool = true) -> HTTPRequest {
        var request = HTTPRequest(method: method, target: "/v1/hosts/00/widgets", body: [])
        if asks { request.headers.append("access-control-request-method", "PUT") }
        return request
    }

    @Test func `a page may call for the apps that list its origin, and by default for none`() {
        let crossOrigin = CrossOrigin([Sports.app: [Self.page], Sports.otherApp: []])
        #expect(crossOrigin.allows(Self.page, for: Sports.app))
        #expect(crossOrigin.allows(Self.page, for: nil))
        #expect(!crossOrigin.allows(Self.page, for: Sports.otherApp))
        #expect(!crossOrigin.allows(Self.page, for: BundleID("com.example.third")))
        #expect(!crossOrigin.allows("https://widgets.example.com.evil.example", for: Sports.app))
        #expect(!crossOrigin.allows("null", for: nil))
        #expect(!CrossOrigin().allows(Self.page, for: nil))
    }

    @Test func `a browser that asks before is told what a page may send`() throws {
        let answer = try #require(CrossOrigin.preflight(Self.preflight(), isAllowed: true))
        #expect(answer.status == 204)
        #expect(answer.headers["access-control-allow-headers"] == "authorization, content-type, last-event-id")
        #expect(CrossOrigin.preflight(Self.preflight(), isAllowed: false)?.status == 403)
    }

    @Test func `what is no question of a browser goes its usual way`() {
        #expect(CrossOrigin.preflight(Self.preflight("GET"), isAllowed: true) == nil)
        #expect(CrossOrigin.preflight(Self.preflight(asks: false), isAllowed: true) == nil)
    }
}
