import Engine
import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// The memory of an engine's tables.
@Suite struct TableBytesTests {
    @Test func `each table says its own growth`() throws {
        var scene = Scene()
        let empty = scene.engine.tables
        for host in ["phone", "tablet"] {
            scene.settle(host, (0..<50).map { Scene.scores("w\($0)", team: "\(host) \($0)") })
        }
        let registered = scene.engine.tables
        for table in [
            EngineTable.hosts, .tokens, .instances, .schedule, .timers, .indexColumns, .indexLists, .indexValues,
        ] {
            #expect(registered[table] > empty[table], "\(table)")
        }
        // Rows come in blocks of 8,192. A row of each part at least, so that none is left out of a sum.
        #expect(registered[.instances] - empty[.instances] >= 8192 * (32 + 32))
        #expect(registered[.schedule] - empty[.schedule] >= 8192 * (64 + 32))
        scene.push(match: "phone 7")
        scene.push(match: "phone 7")
        let pushed = scene.engine.tables
        for table in [EngineTable.reloads, .matches, .pushes, .repeats, .decisions] {
            #expect(pushed[table] > empty[table], "\(table)")
        }
        #expect(EngineTable.allCases.allSatisfy { pushed[$0] >= 0 })
    }

    @Test func `sums of partitions are sums of each table, and survive their bytes`() throws {
        var left = TableBytes()
        var right = TableBytes()
        for (place, table) in EngineTable.allCases.enumerated() {
            left[table] = place + 1
            right[table] = 1000 * (place + 1)
        }
        left += right
        #expect(EngineTable.allCases.map { left[$0] } == EngineTable.allCases.indices.map { 1001 * ($0 + 1) })
        #expect(try TableBytes(encoded: left.encoded) == left)
    }
}
