import Partitions
import TestSupport
import Testing
import WidgetModel

/// However much others send, and however many they are, an accepted request waits two seconds at most, and for the largest request.
///
/// Partitions that do a unit after the other at the assumed pace, over a simulated time.
@Suite struct ShareGuaranteeTests {
    /// The undecided entries of one partition's log.
    private struct Log {
        var entries: [(position: UInt64, units: Int)] = []
        var next: UInt64 = 1
        var units = 0
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
                logs[partition].units -= done
                logs[partition].entries[0].units -= done
                if done == first.units {
                    last = first.position
                    logs[partition].entries.removeFirst()
                }
            }
            if let last { work.partitions[partition].advance(to: LogPosition(last), PartitionWork.Turn()) }
        }
    }

    /// - Returns: The largest part of it that was beyond its team's share; nil if it was refused.
    private static func submit(_ units: [Int], _ team: TeamWork, _ logs: inout [Log], _ work: WorkAdmission) -> Int? {
        guard let charges = try? work.admit(units, of: team, pushMax: nil) else { return nil }
        for charge in charges.all {
            let number = Int(charge.partition.rawValue)
            let position = logs[number].next
            logs[number].next += 1
            logs[number].units += charge.units
            logs[number].entries.append((position, charge.units))
            work.partitions[number].log(charge, at: LogPosition(position))
        }
        return charges.all.filter(\.isLarge).map(\.units).max() ?? 0
    }

    @Test(arguments: [(1, 1), (1, 3), (1, 10), (4, 1), (4, 3), (4, 10)], 0..<8)
    func `what is taken waits at most two seconds and the largest push`(scale: (Int, Int), seed: Int) {
        let (partitions, attackers) = scale
        var random = SplitMix64(seed: UInt64(seed))
        let work = WorkAdmission(partitions: partitions)
        let teams = (0..<attackers).map { work.work(of: TeamID("ATTACKER\($0)")) }
        // Teams that send only requests of more than a share, whenever one is let in.
        let giants = (0..<2).map { work.work(of: TeamID("GIANT\($0)")) }
        let victim = work.work(of: TeamID("VICTIM0000"))
        var logs = Array(repeating: Log(), count: partitions)
        let pushMax = 2 * WorkPace.assumed
        var largest = 0
        for _ in 0..<600 {
            // As much as is let in, of any size, by each in turn.
            for team in teams {
                for _ in 0..<8 {
                    let size = Int.random(in: 1...(random.next() % 4 == 0 ? pushMax : 200_000), using: &random)
                    let units = (0..<partitions).map { _ in Int.random(in: 0...size, using: &random) }
                    largest = max(largest, Self.submit(units, team, &logs, work) ?? 0)
                }
            }
            for team in giants {
                let units = (0..<partitions).map { _ in Int.random(in: WorkPace.assumed...pushMax, using: &random) }
                largest = max(largest, Self.submit(units, team, &logs, work) ?? 0)
            }
            let home = Int.random(in: 0..<partitions, using: &random)
            var units = Array(repeating: 0, count: partitions)
            units[home] = Int.random(in: 1...200, using: &random)
            #expect(Self.submit(units, victim, &logs, work) != nil, "it has hardly anything in the log")
            for log in logs {
                #expect(log.units <= 2 * WorkPace.assumed + largest, "\(log.units) units are before the next request")
            }
            Self.apply(&logs, work)
        }
        #expect((teams + giants).allSatisfy { $0.refused > 0 })
        #expect(victim.refused == 0)
        #expect(largest > 0)
    }

    @Test(arguments: [1, 3, 10])
    func `teams that take all that they get come to equal parts`(count: Int) {
        let work = WorkAdmission(partitions: 1)
        let teams = (0..<count).map { work.work(of: TeamID("TEAM\($0)")) }
        var logs = [Log()]
        for _ in 0..<2000 {
            for team in teams { while Self.submit([1000], team, &logs, work) != nil {} }
            Self.apply(&logs, work)
        }
        let part = 2 * WorkPace.assumed / (count + 1)
        for team in teams { #expect(abs(team.undecided - part) <= part / 10, "\(team.undecided) of \(part)") }
    }
}
