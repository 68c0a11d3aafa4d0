import Gateway
import TestSupport
import Testing
import WidgetModel

/// However much others send, a team within its share waits two seconds at most, and for the largest push.
///
/// Partitions that do a unit after the other at the assumed pace, over a simulated time.
@Suite struct ShareGuaranteeTests {
    /// What lies in one partition's log.
    private struct Log {
        var entries: [(position: UInt64, units: Int)] = []
        var next: UInt64 = 1
        var units: Int { self.entries.reduce(0) { $0 + $1.units } }
    }

    /// Milliseconds between two rounds of requests.
    private static let step = 10

    private static func apply(_ logs: inout [Log], _ work: WorkAdmission) {
        for partition in logs.indices {
            var left = WorkPace.assumed * Self.step / 1000
            var last: UInt64?
            while left > 0, let first = logs[partition].entries.first {
                let done = min(left, first.units)
                left -= done
                logs[partition].entries[0].units -= done
                if done == first.units {
                    last = first.position
                    logs[partition].entries.removeFirst()
                }
            }
            if let last { work.partitions[partition].advance(to: LogPosition(last), PartitionWork.Turn()) }
        }
    }

    private static func submit(_ units: [Int], _ team: TeamWork, _ logs: inout [Log], _ work: WorkAdmission) -> Bool {
        guard case .admitted = work.judge(units, of: team, pushMax: nil) else { return false }
        var charges = WorkCharges()
        for (partition, units) in units.enumerated() where units > 0 {
            charges.add(units, to: team, in: PartitionID(UInt16(partition)))
        }
        work.begin(charges)
        for charge in charges.all {
            let number = Int(charge.partition.rawValue)
            let position = logs[number].next
            logs[number].next += 1
            logs[number].entries.append((position, charge.units))
            work.partitions[number].log(charge.units, of: team, at: LogPosition(position))
        }
        return true
    }

    @Test(arguments: [1, 4], 0..<20)
    func `a team within its share waits at most two seconds and the largest push`(partitions: Int, seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let work = WorkAdmission(partitions: partitions)
        let (attacker, victim) = (work.work(of: TeamID("ATTACKER00")), work.work(of: TeamID("VICTIM0000")))
        var logs = Array(repeating: Log(), count: partitions)
        let pushMax = 2 * WorkPace.assumed
        var largest = 0
        var accepted = 0
        for _ in 0..<1000 {
            // As much as is let in, of any size.
            for _ in 0..<20 {
                let size = Int.random(in: 1...(random.next() % 4 == 0 ? pushMax : 200_000), using: &random)
                let units = (0..<partitions).map { _ in Int.random(in: 0...size, using: &random) }
                if Self.submit(units, attacker, &logs, work) { largest = max(largest, units.max() ?? 0) }
            }
            let home = Int.random(in: 0..<partitions, using: &random)
            var units = Array(repeating: 0, count: partitions)
            units[home] = Int.random(in: 1...2000, using: &random)
            #expect(Self.submit(units, victim, &logs, work), "it has hardly anything in the log")
            accepted += 1
            let bound = 2 * WorkPace.assumed + largest
            #expect(logs[home].units <= bound, "\(logs[home].units) units are before the victim's last")
            Self.apply(&logs, work)
        }
        #expect(attacker.refused > 0)
        #expect(victim.refused == 0)
        #expect(accepted == 1000)
    }
}
