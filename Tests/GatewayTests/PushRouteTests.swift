import APNSWire
import Gateway
import HTTP2
import HTTPTransport
import Serving
import Settings
import Testing
import WidgetModel

/// The list of the paths of pushes and channels says who may ask, and how long a body may be: it holds for each of them.
@Suite struct PushRouteTests {
    private static func request(_ method: String, _ path: PushPath, _ body: String) -> PushScene.Request {
        PushScene.Request(
            description: "\(method) \(path)",
            method: method,
            path: path.description.replacing("{app}", with: Sports.app.rawValue).replacing("{token}", with: "00ff")
                .replacing("{channel}", with: "AAAA"),
            headers: [
                "apns-topic": "\(Sports.app).push-type.widgets", "apns-push-type": "widgets", "apns-channel-id": "AAAA",
            ],
            body: body
        )
    }

    @Test(arguments: SenderAction.allCases)
    func `a key may ask at the paths of its rights, and at no others`(action: SenderAction) async throws {
        try await PushScene.with(actions: SenderActions(action)) { scene in
            for path in PushPath.all {
                for method in path.methods {
                    let line = #"{"payload":{"aps":{"content-changed":true},"freshet":{"all":true}}}"#
                    let answer = try await scene.send(Self.request(method, path, method == "POST" ? line : ""))
                    let isForbidden = answer.text.contains(#""reason":"Forbidden""#)
                    #expect(isForbidden == (path.action != action), "\(method) \(path): \(answer.text)")
                }
            }
        }
    }

    @Test func `a body is as long as its path allows, and no longer`() async throws {
        var bounds = ServingBounds()
        bounds.intake.deviceBodyBytesMax = 300
        bounds.intake.targetedBodyBytesMax = 400
        bounds.intake.bulk.bytesMax = 500
        try await PushScene.with(bounds: bounds) { scene in
            for path in PushPath.all where path.methods.contains("POST") {
                let bytesMax = bounds.intake.bytesMax(of: path.body)
                for isTooLong in [false, true] {
                    let body = String(repeating: " ", count: isTooLong ? bytesMax + 1 : bytesMax)
                    let answer = try await scene.send(Self.request("POST", path, body))
                    #expect((answer.status == 413) == isTooLong, "\(path): \(answer.status) \(answer.text)")
                }
            }
        }
    }

    @Test(arguments: ["maxImportBytes", "maxBulkBytes"])
    func `a listener takes the longest body of its routes`(longest: String) throws {
        let text = """
            limits:
              maxDeviceBodyBytes: 300
              maxTargetedBodyBytes: 400
              maxHostBodyBytes: 3000
              maxUnreadBodyBytes: 10
              maxImportBytes: \(longest == "maxImportBytes" ? 7000 : 2000)
              maxBulkBytes: \(longest == "maxBulkBytes" ? 7000 : 2000)
            """
        let configuration = try ConfigurationFile.parse(text).configuration
        for (listener, bytes) in [("push", 7000), ("host", 7000), ("manage", 5120), ("ops", 3000), ("health", 10)] {
            let bounds = HTTPListenerConfiguration.Bounds(of: listener, configuration)
            #expect(bounds.limits.bodyBytesMax == bytes, "\(listener)")
        }
    }
}
