import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// The timers of instances and of hosts, which fire together.
@Suite struct DueTimerTests {
    private static let start = Instant(seconds: 1_793_638_800)

    private enum Timer: Hashable {
        case instance(InstanceNumber)
        case host(HostNumber)
    }

    /// The due timers, in the order in which they fire.
    private static func takeDue(_ engine: inout Engine, _ random: inout SplitMix64) -> [Timer] {
        var timers = DueTimers()
        while !timers.isCollected {
            var units = 1 + Int(random.next() % 3)
            engine.collect(&timers, &units)
        }
        var due: [Timer] = []
        while !timers.isDone {
            let batch = timers.takeNext(1 + Int(random.next() % 3))
            switch batch {
            case .instances(let instances): due += instances.map { .instance($0) }
            case .hosts(let hosts): due += hosts.map { .host($0) }
            }
        }
        return due
    }

    /// Against a sorted list.
    @Test(arguments: UInt64(1)..<40)
    func `what is due is taken in the order of seconds, of one second instances before hosts, then of numbers`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var engine = Engine(partition: PartitionID(0), partitions: 1)
        var model: [(second: UInt64, rank: UInt64, timer: Timer)] = []
        // Some schedules have many of one sort, and some have hosts late or never.
        let (instances, hosts) = (random.next() % 40, random.next() % 3 * 15)
        let spread = 1 + random.next() % 30
        for number in 0..<UInt32(40) {
            if UInt64(number) < instances {
                let second = random.next() % spread
                engine.schedule.arm(InstanceNumber(raw: number), at: Self.start + .seconds(Int64(second)))
                model.append((second, UInt64(number), .instance(InstanceNumber(raw: number))))
            }
            if UInt64(number) < hosts {
                let second = random.next() % (spread * 2)
                engine.schedule.arm(HostNumber(raw: number), at: Self.start + .seconds(Int64(second)))
                model.append((second, 1000 + UInt64(number), .host(HostNumber(raw: number))))
            }
        }
        model.sort { ($0.second, $0.rank) < ($1.second, $1.rank) }
        var taken = 0
        for second in [0, spread / 2, spread, spread * 2] {
            engine.time = Self.start + .seconds(Int64(second))
            let due = model[taken...].prefix { $0.second <= second }.map(\.timer)
            #expect(Self.takeDue(&engine, &random) == due, "by second \(second)")
            taken += due.count
        }
        #expect(taken == model.count)
        #expect(engine.nextTimer == nil)
    }
}
