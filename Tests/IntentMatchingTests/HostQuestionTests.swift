import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// Questions on `$host`, of which the index knows numbers alone.
@Suite struct HostQuestionTests {
    static let app = BundleID("com.example.hosts")
    static let kind = WidgetKind("hosts")

    static func insert(_ instance: UInt32, host: UInt32, into index: inout IntentIndex) {
        index.insert(
            instance,
            app: self.app,
            kind: self.kind,
            family: .systemSmall,
            host: host,
            tags: [],
            configuration: Configuration(["p": .string("v\(instance % 5)")]),
            pushEnabled: true
        )
    }

    static let leaves: [JSONValue] = [
        "h-17", "H-17", "nobody", "", 17, .null, true, "2026-11-22T00:00:00Z",
        ["h-17", "h-18", "h-4017"],
        ["h-17", "nobody", 3, ["exists": false]],
        ["prefix": "h-401"], ["prefix": "h-4"], ["prefix": ""], ["prefix": "H"],
        [["prefix": "h-401"], ["prefix": "h-99"]],
        [["prefix": "h-401"], "h-17"],
        ["suffix": "17"], ["suffix": ""],
        ["wildcard": "h-*1"], ["wildcard": "*"], ["wildcard": "h-4*17"],
        ["equals-ignore-case": "H-17"],
        ["anything-but": "h-17"], ["anything-but": ["h-17", "nobody", 3, "h-18"]], ["anything-but": "nobody"],
        ["anything-but": ["prefix": "h-4"]], ["anything-but": ["prefix": "x"]],
        [["anything-but": "h-17"], "h-17"],
        ["exists": true], ["exists": false], [["exists": true], ["exists": false]],
        [["exists": false], ["suffix": "7"]],
        ["numeric": [">", 3]],
    ]

    /// Some of the hosts have instances; below 4,096 hosts all ids are looked at ahead of the rows, above that they are not.
    @Test(arguments: [50, 4500])
    func `every operator is answered as its meaning says`(count: Int) throws {
        let ids = (0..<count).map { $0 % 10 == 3 ? "H-\($0)" : "h-\($0)" }
        var index = IntentIndex()
        index.startLoading()
        var hosts: [UInt32: UInt32] = [:]
        for number in 0..<UInt32(count) where number < 30 || number % 8 == 1 {
            for instance in number * 3..<number * 3 + number % 3 { hosts[instance] = number }
        }
        // The last hosts have no instance: no host with one has a number as high.
        hosts = hosts.filter { Int($0.value) < count - 10 }
        for (instance, host) in hosts.sorted(by: { $0.key < $1.key }) {
            Self.insert(instance, host: host, into: &index)
        }
        let names = HostList(ids)
        func expectAnswers(_ note: String) throws {
            let shapes: [(JSONValue) -> JSONValue] = [
                { ["$host": $0] }, { ["$host": $0, "p": "v3"] }, { ["$or": [["p": "v1"], ["$host": $0]]] },
            ]
            for leaf in Self.leaves {
                for shape in shapes {
                    let pattern = try MatchPattern.parse(shape(leaf))
                    let expected = hosts.filter { instance, host in
                        pattern.matches(
                            MatchSubject(
                                configuration: Configuration(["p": .string("v\(instance % 5)")]),
                                family: .systemSmall,
                                host: HostID(ids[Int(host)]),
                                tags: []
                            )
                        )
                    }
                    let found = index.ask(Self.app, Self.kind, pattern, 64, hosts: names)
                    #expect(found == expected.keys.sorted(), "\(note), \(pattern.json)")
                }
            }
        }
        try expectAnswers("without lists")
        index.finishLoading()
        try expectAnswers("with lists")
        for instance in hosts.keys.sorted() where instance % 4 == 1 {
            index.remove(instance)
            hosts[instance] = nil
        }
        try expectAnswers("after removals")
        #expect(index.checkInvariants() == [])
    }

    @Test func `a number stands for whom the question says`() throws {
        var index = IntentIndex()
        var hosts = HostList()
        func ask(_ leaf: JSONValue) throws -> [UInt32] {
            index.ask(Self.app, Self.kind, try MatchPattern.parse(["$host": leaf]), 4, hosts: hosts)
        }
        Self.insert(1, host: hosts.use(HostID("phone")), into: &index)
        Self.insert(2, host: hosts.use(HostID("watch")), into: &index)
        #expect(try ask("phone") == [1])
        index.remove(InstanceNumber(1))
        hosts.release(HostID("phone"))
        #expect(try ask("phone") == [])
        #expect(try ask(["anything-but": "phone"]) == [2])
        let tablet = hosts.use(HostID("tablet"))
        #expect(tablet == 0, "the phone's number")
        #expect(try ask("tablet") == [])
        #expect(try ask(["prefix": ""]) == [2])
        Self.insert(3, host: tablet, into: &index)
        #expect(try ask("phone") == [])
        #expect(try ask(["tablet", "phone"]) == [3])
        #expect(try ask(["wildcard": "*t*"]) == [2, 3])
        // An instance may come to be another host's.
        Self.insert(3, host: hosts.use(HostID("watch")), into: &index)
        #expect(try ask("tablet") == [])
        #expect(try ask("watch") == [2, 3])
        #expect(index.checkInvariants() == [])
    }

    @Test func `the list of a host is walked, and a host without instances is known to have none`() throws {
        var index = IntentIndex()
        for instance in UInt32(0)..<3000 { Self.insert(instance, host: instance / 3, into: &index) }
        let hosts = HostList((0..<2000).map { "h-\($0)" })
        func plan(_ leaf: JSONValue) throws -> String {
            let pattern = try MatchPattern.parse(["$host": leaf, "p": "v1"])
            return index.explain(app: Self.app, kind: Self.kind, pattern: pattern, hosts: hosts)
                .map(\.description).joined()
        }
        #expect(try plan("h-7") == "hosts: lists by $host (3) through 1 filters; 3000 rows")
        #expect(try plan(["wildcard": "h-99*7"]) == "hosts: lists by $host (3) through 1 filters; 3000 rows")
        #expect(try plan("h-1500") == "hosts: no row can match; 3000 rows")
        // The index has h-199 of them, and no host from h-1990 on.
        #expect(try plan(["prefix": "h-199"]) == "hosts: lists by $host (3) through 1 filters; 3000 rows")
    }
}
