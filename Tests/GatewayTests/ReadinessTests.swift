import HTTPTransport
import Journaling
import NIOCore
import OperatorAPI
import Partitions
import Testing
import WidgetModel

@Suite struct ReadinessTests {
    private static func answer(_ readiness: Readiness, _ target: String, _ method: String = "GET") -> [String]? {
        let request = HTTPRequest(method: method, target: target)
        guard let response = HealthRoutes.respond(to: request, readiness) else { return nil }
        guard case .bytes(let bytes) = response.body else { return nil }
        return ["\(response.status)", String(decoding: bytes, as: UTF8.self)]
    }

    @Test func `a gateway starts unready and is ready when everything holds`() {
        let readiness = Readiness()
        #expect(readiness.missing == [.replay, .listeners])
        #expect(!readiness.isReady)
        readiness.set(.listeners, met: true)
        readiness.set(.replay, met: true)
        #expect(readiness.isReady)
    }

    @Test func `what is missing is named in a fixed order`() {
        let readiness = Readiness()
        for condition in Readiness.Condition.allCases.reversed() { readiness.set(condition, met: false) }
        #expect(readiness.missing == Readiness.Condition.allCases)
    }

    @Test func `probes are answered, by HEAD too`() {
        let readiness = Readiness()
        #expect(Self.answer(readiness, "/livez") == ["200", "alive\n"])
        let partitions = #""partitionsRunning":true,"partitionsCurrent":true"#
        let checks = #""logWritable":true,\#(partitions),"clockSteady":true,"logTimeRunning":true"#
        let missing = #""the log is still being replayed","a listener is not bound yet""#
        let notYet =
            #"{"ready":false,"missing":[\#(missing)],"checks":{"replayed":false,\#(checks),"listening":false,"serving":true}}"#
        #expect(Self.answer(readiness, "/readyz") == ["503", notYet])
        readiness.progress = "partition 1 of 2, entry 7 of 9"
        #expect(
            Self.answer(readiness, "/readyz")?[1].hasSuffix(#","progress":"partition 1 of 2, entry 7 of 9"}"#) == true
        )
        readiness.progress = nil
        readiness.set(.listeners, met: true)
        readiness.set(.replay, met: true)
        let ready = #"{"ready":true,"checks":{"replayed":true,\#(checks),"listening":true,"serving":true}}"#
        #expect(Self.answer(readiness, "/readyz", "HEAD") == ["200", ready])
        #expect(Self.answer(readiness, "/version")?.first == "200")
    }

    @Test func `how far partitions are behind is said, and more than half a minute is not ready`() {
        let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
        let partitions = [PartitionWork(PartitionID(0)), PartitionWork(PartitionID(1))]
        partitions[1].noteArrival(LogPosition(1), at: start)
        partitions[1].noteArrival(LogPosition(7), at: start + .seconds(1))
        for (milliseconds, isReady) in [(29_999, true), (30_000, true), (30_001, false)] as [(Int64, Bool)] {
            let readiness = Readiness(partitions) { start + .milliseconds(milliseconds) }
            readiness.set(.listeners, met: true)
            readiness.set(.replay, met: true)
            #expect(readiness.missing == (isReady ? [] : [.lag]))
            #expect(readiness.isReady == isReady)
            let answer = Self.answer(readiness, "/readyz")
            #expect(answer?[0] == (isReady ? "200" : "503"))
            #expect(answer?[1].contains(#""partitionsCurrent":\#(isReady),"#) == true)
            let lagging = #"{"partition":1,"lag":7,"lagSeconds":\#(Double(milliseconds) / 1000)}"#
            let lags = #"[{"partition":0,"lag":0,"lagSeconds":0.0},\#(lagging)]"#
            #expect(answer?[1].hasSuffix(#","partitions":\#(lags)}"#) == true, "\(answer?[1] ?? "")")
        }
    }

    @Test(arguments: ["/", "/livez/x", "/metrics", "/v1/stats"])
    func `what is no probe is left to others`(target: String) {
        #expect(Self.answer(Readiness(), target) == nil)
    }

    @Test func `a probe is only asked`() {
        let refused = HealthRoutes.respond(to: HTTPRequest(method: "POST", target: "/livez"), Readiness())
        #expect(refused?.status == 405 && refused?.headers["allow"] == "GET, HEAD")
        // Some are configured with a query, which means nothing here.
        #expect(Self.answer(Readiness(), "/livez?verbose") != nil)
    }
}
