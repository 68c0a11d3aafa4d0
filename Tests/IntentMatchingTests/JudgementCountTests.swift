import BasicContainers
import Storage
import TestSupport
import Testing
import WidgetModel

@testable import IntentMatching

/// A pattern is judged once for each distinct value of a field at most, however many rows have it: what a wildcard costs is not to
/// grow with the widgets that are configured alike.
@Suite struct JudgementCountTests {
    private static let rows = 40_000

    /// Few values are judged ahead of the rows, many when it is known how many rows will be asked. Alone, beside a list that
    /// leaves few rows, and beside one that leaves most.
    @Test(arguments: [1, 10, 4_000, 20_000], [nil, 400, 2] as [Int?])
    func `each value is judged once at most`(distinct: Int, groups: Int?) throws {
        var segment = KindSegment(app: BundleID("com.example"), kind: WidgetKind("k"), isConditional: false)
        for row in 0..<Self.rows {
            let value = "value-\(row % distinct)-\(row % distinct % 2 == 0 ? "even" : "odd")"
            let configuration = Configuration(["a": .string(value), "b": .int(Int64(row % (groups ?? 1)))])
            let attributes = InstanceAttributes(
                family: .systemSmall,
                host: HostNumber(0),
                tags: [],
                configuration: configuration
            )
            _ = segment.append(InstanceNumber(row), attributes)
        }
        let pattern = try MatchPattern.parse(
            groups == nil ? ["a": ["wildcard": "*even"]] : ["a": ["wildcard": "*even"], "b": 0]
        )
        let hosts = HostList()
        let question = MatchPlanning(pattern: pattern, fulfilled: nil, isNamed: true, order: .ascending, segments: [])
        var planning = segment.beginPlan(question, work: .max, hosts)
        let plan = try #require(segment.plan(&planning, hosts))
        var judged = planning.values.takeJudged()
        var scan = RowScan(plan)
        var instances = Column<UInt32>(undefined: 4096 + RowScan.slack)
        var found = 0
        while !scan.isDone {
            found += scan.fill(&instances, from: 0, limit: 4096, segment.table, segment.instances) {
                judged += 1
                return segment.satisfies($0, $1, $2, hosts)
            }
        }
        let wanted = (0..<Self.rows).count { $0 % (groups ?? 1) == 0 && $0 % distinct % 2 == 0 }
        #expect(found == wanted)
        #expect(judged <= distinct + 1)
    }
}
