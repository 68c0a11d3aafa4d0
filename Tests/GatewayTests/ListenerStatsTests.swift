import APNSWire
import HTTP2
import HTTPTransport
import OperatorAPI
import Testing
import WidgetModel

@Suite struct ListenerStatsTests {
    @Test func `limits and deadlines go by their keys, and those that were not met are left out`() {
        var counters = HTTPListenerCounters()
        counters.connections = 3
        counters.handshakes = 1
        counters.heldBytes = 70
        counters.connectionsAccepted = 20
        counters.connectionsRefused = 2
        counters.acceptsFailed = 4
        counters.handshakesFailed = 5
        counters.requests = 600
        counters.answersDropped = 7
        counters.connectionsEndedByFault = 8
        counters.listenerLimits[.maxConnectionsPerAddress] = 2
        counters.connectionLimits[.maxResets] = 8
        counters.deadlines[.handshake] = 5
        counters.cutOff = [HTTPCutOff(limit: "maxResets", times: 8, peer: "192.0.2.7:5", secondsAgo: 9)]
        var sum = counters
        sum += counters
        #expect(sum.listenerLimits[.maxConnectionsPerAddress] == 4)
        #expect(sum.connectionLimits.total == 16)
        let json = OperatorRoutes.listeners([("push", counters), ("ops", HTTPListenerCounters())])
        #expect(
            String(decoding: json.jsonText, as: UTF8.self) == #"""
                {"push":{"connections":3,"handshakes":1,"heldBytes":70,"accepted":20,"refused":2,"acceptsFailed":4,\#
                "handshakesFailed":5,"requests":600,"answersDropped":7,"endedByFault":8,\#
                "limits":{"maxConnectionsPerAddress":2,"maxResets":8},"timeouts":{"handshake":5},\#
                "cutOff":{"maxResets":{"times":8,"peer":"192.0.2.7:5","secondsAgo":9}}},\#
                "ops":{"connections":0,"handshakes":0,"heldBytes":0,"accepted":0,"refused":0,"acceptsFailed":0,\#
                "handshakesFailed":0,"requests":0,"answersDropped":0,"endedByFault":0,"limits":{},"timeouts":{},"cutOff":{}}}
                """#
        )
    }
}
